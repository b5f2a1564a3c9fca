package agents

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/internal/api"
)

// Run tells a conversation what Claude Code says and does while it runs, from what it prints with --output-format stream-json. It is an
// [io.Writer] that takes everything at once: a server that is slow or away never holds the client up.
type Run struct {
	Client *api.Client
	Agent  string      // its id
	Tried  func(error) // as [api.Client.Await] takes it; nil: nobody is told

	mu      sync.Mutex
	more    *sync.Cond
	rest    []byte   // of a line that has not ended
	waiting [][]byte // lines to be told
	over    bool

	calls map[string]string // by the client's id: those that are to be finished
	done  chan struct{}
}

// Start begins to tell, until End.
func (r *Run) Start(ctx context.Context) {
	r.more, r.calls, r.done = sync.NewCond(&r.mu), map[string]string{}, make(chan struct{})
	go func() {
		defer close(r.done)
		for line := r.next(); line != nil && ctx.Err() == nil; line = r.next() {
			r.tell(ctx, line)
		}
		for id := range r.calls {
			r.finish(ctx, id, "The run ended before this call did.", true)
		}
	}()
}

// Prompt tells what the client was told to do.
func (r *Run) Prompt(text string) {
	if strings.TrimSpace(text) != "" {
		line := encode(streamed{Type: "user", Message: message{Content: encode(text)}})
		_, _ = r.Write(append(line, '\n'))
	}
}

// Write takes a part of what the client prints.
func (r *Run) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest = append(r.rest, b...)
	for {
		line, rest, whole := bytes.Cut(r.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		r.waiting = append(r.waiting, bytes.Clone(line))
		r.rest = rest
		r.more.Signal()
	}
}

// End waits until everything is told, and gives how many lines are not: those that could not be told within patience.
func (r *Run) End(patience time.Duration) (left int) {
	r.mu.Lock()
	if len(r.rest) > 0 {
		r.waiting = append(r.waiting, r.rest)
	}
	r.over = true
	r.more.Signal()
	r.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-r.done:
		return 0
	case <-timer.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting) + 1
}

// next waits for a line; nil: there is none any more.
func (r *Run) next() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.waiting) == 0 && !r.over {
		r.more.Wait()
	}
	if len(r.waiting) == 0 {
		return nil
	}
	line := r.waiting[0]
	r.waiting = r.waiting[1:]
	return line
}

// streamed is one line of the client's output, as far as it is told.
type streamed struct {
	Type    string   `json:"type"`
	Subtype string   `json:"subtype,omitempty"`
	IsError bool     `json:"is_error,omitempty"`
	Result  string   `json:"result,omitempty"`
	Errors  []string `json:"errors,omitempty"`
	Message message  `json:"message"`
}

type message struct {
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stop_reason,omitempty"`
}

// part is one block of a message.
type part struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// tell tells one line. What is not understood is not told: the client is free to print anything.
func (r *Run) tell(ctx context.Context, line []byte) {
	var s streamed
	if json.Unmarshal(line, &s) != nil {
		return
	}
	var parts []part
	var text string
	switch {
	case json.Unmarshal(s.Message.Content, &text) == nil:
		parts = []part{{Type: "text", Text: text}}
	default:
		_ = json.Unmarshal(s.Message.Content, &parts)
	}
	switch s.Type {
	case "assistant":
		r.output(ctx, parts, s.Message.StopReason)
	case "user":
		r.heard(ctx, parts)
	case "result":
		if s.IsError || s.Subtype != "success" {
			why := append([]string{"The run ended with " + s.Subtype + ".", s.Result}, s.Errors...)
			why = slices.DeleteFunc(why, func(s string) bool { return s == "" })
			r.output(ctx, []part{{Type: "text", Text: strings.Join(why, " ")}}, "error")
		}
	}
}

// output tells what the model said and wants to do. Whether it may is asked by its permission prompt.
func (r *Run) output(ctx context.Context, parts []part, stopReason string) {
	var blocks []api.ContentBlock
	for _, p := range parts {
		switch {
		case p.Type == "text" && strings.TrimSpace(p.Text) != "":
			blocks = append(blocks, api.ContentBlock{Type: "text", Text: shown(p.Text)})
		case p.Type == "thinking" && strings.TrimSpace(p.Thinking) != "":
			blocks = append(blocks, api.ContentBlock{Type: "reasoning", Text: shown(p.Thinking)})
		case p.Type == "tool_use" && !(Hook{Tool: p.Name}).ownTool() && p.Name != "ask_question":
			blocks = append(blocks, api.ContentBlock{
				Type: "tool_call", Name: p.Name, Input: p.Input, ProviderCallID: p.ID, Permission: "elsewhere",
			})
		}
	}
	for _, call := range r.report(ctx, "model_output", stopReason, blocks).ToolCalls {
		if call.State != "completed" { // as one is that a policy denies
			r.calls[call.ProviderCallID] = call.ID
		}
	}
}

// heard tells results of tools, and what was said to the model.
func (r *Run) heard(ctx context.Context, parts []part) {
	var said []api.ContentBlock
	for _, p := range parts {
		if p.Type == "text" && strings.TrimSpace(p.Text) != "" {
			said = append(said, api.ContentBlock{Type: "text", Text: shown(p.Text)})
		}
		if p.Type == "tool_result" {
			text, _ := outcomeOf(p.Content)
			r.finish(ctx, p.ToolUseID, text, p.IsError)
		}
	}
	r.report(ctx, "user_message", "", said)
}

// finish tells what came of a call, if it is one that was told and has not ended.
func (r *Run) finish(ctx context.Context, id, text string, failed bool) {
	call, known := r.calls[id]
	if !known {
		return
	}
	delete(r.calls, id)
	once, result := rand.Text(), resultOf(text, failed)
	r.surely(ctx, func(ctx context.Context) error {
		_, err := r.Client.Finish(ctx, r.Agent, call, once, result)
		return err
	})
}

func (r *Run) report(ctx context.Context, kind, stopReason string, blocks []api.ContentBlock) (told api.Reported) {
	if len(blocks) == 0 {
		return told
	}
	once := rand.Text()
	r.surely(ctx, func(ctx context.Context) (err error) {
		told, err = r.Client.Report(ctx, r.Agent, once, api.NewEvent{EventKind: kind, ContentBlocks: blocks, StopReason: stopReason})
		return err
	})
	return told
}

// surely tries until it worked, or is refused: what happened meanwhile, a stop for one, may forbid it.
func (r *Run) surely(ctx context.Context, try func(context.Context) error) {
	tried := r.Tried
	if tried == nil {
		tried = func(error) {}
	}
	err := api.Again(ctx, tried, func() error {
		ctx, stop := context.WithTimeout(ctx, tellWithin)
		defer stop()
		return try(ctx)
	})
	var refused *api.Error
	if errors.As(err, &refused) && refused.Status != http.StatusConflict && r.Tried != nil {
		r.Tried(err)
	}
}
