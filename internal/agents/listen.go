package agents

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"sayso/internal/api"
)

// claimMost is how long one call waits for a message.
const claimMost = 50 * time.Second

// claim takes the next message that waits for the agent; nil: there is none.
func (s *story) claim(ctx context.Context, wait time.Duration) (in *api.Input, err error) {
	once := rand.Text()
	err = api.Again(ctx, s.Tried, func() error {
		in, err = s.Client.Claim(ctx, s.agent, once, wait)
		return err
	})
	if conflict(err) {
		err = errArchived
	}
	return in, err
}

// next is the message to read: one that was taken already, or the next that waits.
func (s *story) next(ctx context.Context) (*api.Input, error) {
	if in := s.unread; in != nil {
		s.unread = nil
		return in, nil
	}
	return s.claim(ctx, 0)
}

// listen reads everything that waits, and replies.
func (s *story) listen(ctx context.Context) error {
	for {
		in, err := s.next(ctx)
		if err != nil || in == nil {
			return err
		}
		if err := s.reply(ctx, *in); err != nil {
			return err
		}
	}
}

// linger reads on when the story is told, for as long as it may.
func (s *story) linger(ctx context.Context) error {
	if s.Linger > 0 {
		s.Say("I still read what you write to me for %s.", s.Linger)
	}
	until := time.Now().Add(s.Linger)
	for left := s.Linger; left > 0; left = time.Until(until) {
		in, err := s.claim(ctx, min(max(left, time.Second), claimMost))
		if err != nil {
			return err
		}
		if in == nil {
			continue
		}
		if err := s.reply(ctx, *in); err != nil {
			return err
		}
	}
	return s.says(ctx, "I am done now. What you write from here on I read when I am started again.")
}

// reply says what the agent makes of a message.
func (s *story) reply(ctx context.Context, in api.Input) error {
	text := oneLine(in)
	s.Say("  %s wrote: %s", in.Actor.Name, text)
	said := strings.ToLower(strings.Trim(text, " .!"))
	switch {
	case said == "stop" || said == "halt":
		return errStopped
	case leavesPush(said):
		s.careful = true
		return s.says(ctx, "Understood: I will not push over what is there. The release goes out as a branch for review.")
	case has(said, "thank", "well done", "good job"):
		return s.says(ctx, "You are welcome.")
	case strings.Contains(text, "?"):
		return s.says(ctx, "You ask: “%s” All I can tell is where I am: %s.", text, s.where())
	case has(said, "hello", "hi ", "good morning") || said == "hi":
		return s.says(ctx, "Hello! I am at the release of harbor-web: %s.", s.where())
	}
	s.notes = append(s.notes, text)
	return s.says(ctx, "Noted: “%s” I keep to that for the rest of the release.", text)
}

// steered is what the agent does when a message took the place of what it asked: it reads the message, and no longer does anything that could
// not be undone.
func (s *story) steered(ctx context.Context) error {
	in, err := s.next(ctx)
	if err != nil {
		return err
	}
	s.careful = true
	if in == nil {
		return s.says(ctx, "My request was taken back by a message that is gone. I go on without it, and overwrite nothing from here on.")
	}
	text := oneLine(*in)
	s.Say("  %s wrote: %s", in.Actor.Name, text)
	if said := strings.ToLower(strings.Trim(text, " .!")); said == "stop" || said == "halt" {
		return errStopped
	}
	s.notes = append(s.notes, text)
	return s.says(ctx, "Your message comes first: “%s” I drop what I was asking for and change my plan: I overwrite nothing from here on, and "+
		"the release goes out as a branch for review.", text)
}

// where says how far the story is.
func (s *story) where() string {
	if len(s.done) == 0 {
		return "I have only begun"
	}
	return fmt.Sprintf("step %d of %d, and the last thing I did was this: %s", s.scene+1, len(scenes()), strings.TrimRight(s.done[len(s.done)-1], "."))
}

// leavesPush says whether somebody does not want the branch to be overwritten.
func leavesPush(said string) bool {
	return has(said, "push", "force") && has(said, "don't", "do not", "don’t", "not ", "no ", "never")
}

func has(text string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// quoteMost is how much of a message the agent repeats.
const quoteMost = 200

// oneLine is the text of a message, as far as the agent repeats it.
func oneLine(in api.Input) string {
	var texts []string
	for _, b := range in.ContentBlocks {
		texts = append(texts, strings.Fields(b.Text)...)
	}
	text := []rune(strings.Join(texts, " "))
	if len(text) > quoteMost {
		return string(text[:quoteMost]) + "…"
	}
	return string(text)
}
