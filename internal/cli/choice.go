package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sayso/internal/api"
)

// choice is an answer to a form of questions, as --select and --text give it.
type choice struct {
	form     api.Request
	picked   [][]int // by question
	texts    []string
	response string
}

// choose reads the values of --select and --text; text is nil if that was not given. A text answers the one question there is; with several,
// or beside --select, it is a response to all of them.
func choose(form api.Request, selects []string, text *string) (api.Resolve, error) {
	c := choice{form: form, picked: make([][]int, len(form.Questions)), texts: make([]string, len(form.Questions))}
	for _, given := range selects {
		if err := c.pick(given); err != nil {
			return api.Resolve{}, err
		}
	}
	switch {
	case text == nil:
	case len(form.Questions) == 1 && len(selects) == 0:
		if err := c.write(*text); err != nil {
			return api.Resolve{}, err
		}
	default:
		c.response = *text
	}
	return c.resolve()
}

// pick takes one QUESTION=LABEL[,LABEL…].
func (c *choice) pick(given string) error {
	name, labels, ok := strings.Cut(given, "=")
	name, labels = strings.TrimSpace(name), strings.TrimSpace(labels)
	if !ok || name == "" || labels == "" {
		return badInput("for example --select '1=LABEL'", "--select: %q is not of the form QUESTION=LABEL", given)
	}
	n, err := c.question(name)
	if err != nil {
		return err
	}
	q := c.form.Questions[n]
	options, err := optionsNamed(q, labels)
	if err != nil {
		return err
	}
	for _, option := range options {
		if !slices.Contains(c.picked[n], option) {
			c.picked[n] = append(c.picked[n], option)
		}
	}
	if len(c.picked[n]) > 1 && !q.Multiple {
		return badInput("", "--select: question %d (%s) takes one option, got %d", n+1, q.Prompt, len(c.picked[n]))
	}
	return nil
}

// question finds a question by its number, which a number always is, else by its text or its header.
func (c *choice) question(name string) (int, error) {
	questions := c.form.Questions
	if n, err := strconv.Atoi(name); err == nil {
		if n < 1 || n > len(questions) {
			return 0, badInput("", "--select: there is no question %d; allowed are 1 to %d", n, len(questions))
		}
		return n - 1, nil
	}
	var prompts, headers []string
	for _, q := range questions {
		prompts, headers = append(prompts, q.Prompt), append(headers, q.Header)
	}
	for _, same := range []func(string, string) bool{exactly, strings.EqualFold} {
		for _, names := range [][]string{prompts, headers} {
			switch found := matches(names, name, same); len(found) {
			case 0:
			case 1:
				return found[0], nil
			default:
				return 0, badInput("give its number", "--select: %q names several questions", name)
			}
		}
	}
	return 0, badInput("", "--select: there is no question %q; the questions are %s", name, quotedList(prompts))
}

func exactly(a, b string) bool { return a == b }

func matches(names []string, name string, same func(string, string) bool) (found []int) {
	for n, candidate := range names {
		if same(strings.TrimSpace(candidate), name) {
			found = append(found, n)
		}
	}
	return found
}

// optionsNamed finds options by their labels, which commas separate. A label may hold commas itself, so the whole is looked for first.
func optionsNamed(q api.Question, labels string) ([]int, error) {
	if index, ok := optionNamed(q, labels); ok {
		return []int{index}, nil
	}
	var found []int
	for label := range strings.SplitSeq(labels, ",") {
		label = strings.TrimSpace(label)
		index, ok := optionNamed(q, label)
		if !ok {
			return nil, badInput("", "--select: %q is not an option of %q; the options are %s", label, q.Prompt, quotedList(labelsOf(q)))
		}
		found = append(found, index)
	}
	return found, nil
}

// optionNamed is the first option with a label: exactly so, else without regard to case.
func optionNamed(q api.Question, label string) (int, bool) {
	for _, same := range []func(string, string) bool{exactly, strings.EqualFold} {
		if found := matches(labelsOf(q), label, same); len(found) > 0 {
			return found[0], true
		}
	}
	return 0, false
}

func labelsOf(q api.Question) (labels []string) {
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	return labels
}

func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for n, name := range names {
		quoted[n] = fmt.Sprintf("%q", name)
	}
	return strings.Join(quoted, ", ")
}

// write answers the only question in a person's own words. Words that are an option are that option.
func (c *choice) write(text string) error {
	q := c.form.Questions[0]
	if index, ok := optionNamed(q, strings.TrimSpace(text)); ok {
		c.picked[0] = []int{index}
		return nil
	}
	index, ok := freeIndex(q)
	if !ok {
		return badInput("", "--text: this question takes no other answer than its options, which are %s", quotedList(labelsOf(q)))
	}
	c.picked[0], c.texts[0] = []int{index}, text
	return nil
}

// freeIndex is the option that takes what no other does: the last one that takes a text.
func freeIndex(q api.Question) (int, bool) {
	for n, o := range slices.Backward(q.Options) {
		if o.AllowsText {
			return n, true
		}
	}
	return 0, false
}

// resolve is the answer on the wire. A question that was left open is stored as its free option without a text.
func (c *choice) resolve() (api.Resolve, error) {
	r := api.Resolve{Response: c.response}
	for n, q := range c.form.Questions {
		if len(c.picked[n]) == 0 {
			index, ok := freeIndex(q)
			if !ok {
				return r, badInput("", "--select: question %d (%s) must be answered; the options are %s", n+1, q.Prompt, quotedList(labelsOf(q)))
			}
			c.picked[n] = []int{index}
		}
		r.Answers = append(r.Answers, api.Answer{OptionIndices: slices.Sorted(slices.Values(c.picked[n])), Text: c.texts[n]})
	}
	return r, nil
}
