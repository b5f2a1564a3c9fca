package interaction

import (
	"slices"
	"strings"
)

// Answer is what was chosen for one question.
type Answer struct {
	OptionIndices []int  `json:"option_indices"`
	Text          string `json:"text,omitempty"`
}

// CheckAnswers says what is wrong with the shape of answers, whatever they answer: ValidationFailed, naming question and index.
func CheckAnswers(answers []Answer) error {
	if len(answers) == 0 {
		return Errorf(ValidationFailed, "answers: must not be empty; one answer per question, in order")
	}
	for q, a := range answers {
		if err := a.checkShape(q); err != nil {
			return err
		}
	}
	return nil
}

func (a Answer) checkShape(q int) error {
	if len(a.OptionIndices) == 0 {
		return Errorf(ValidationFailed, "answers[%d].option_indices: must not be empty; name at least one option by its index", q)
	}
	seen := make(map[int]bool)
	for n, index := range a.OptionIndices {
		if index < 0 {
			return Errorf(ValidationFailed, "answers[%d].option_indices[%d]: %d is negative; indices count from 0", q, n, index)
		}
		if seen[index] {
			return Errorf(ValidationFailed, "answers[%d].option_indices[%d]: %d is there twice; each index may be given once", q, n, index)
		}
		seen[index] = true
	}
	return checkLong("answers", q, a.Text)
}

func checkLong(field string, q int, text string) error {
	if hasNUL(text) {
		return Errorf(ValidationFailed, "%s[%d].text: the NUL character is not allowed", field, q)
	}
	if n := length(strings.TrimSpace(text)); n > MaxAnswerText {
		return Errorf(ValidationFailed, "%s[%d].text: %d characters are too many; at most %d are allowed", field, q, n, MaxAnswerText)
	}
	return nil
}

// normaliseAnswers is what is stored of answers to questions: indices ascending, text trimmed and dropped when blank.
// Answers that do not fit the questions are InvalidRequest, naming question and index. Their shape must have been checked.
func normaliseAnswers(questions []Question, answers []Answer) ([]Answer, error) {
	if len(answers) != len(questions) {
		return nil, Errorf(InvalidRequest, "answers: one answer per question, in order; there are %d questions and %d answers", len(questions), len(answers))
	}
	out := make([]Answer, len(answers))
	for q, a := range answers {
		var err error
		if out[q], err = a.normalise(q, questions[q]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a Answer) normalise(q int, to Question) (Answer, error) {
	n := Answer{OptionIndices: slices.Sorted(slices.Values(a.OptionIndices)), Text: strings.TrimSpace(a.Text)}
	if last := n.OptionIndices[len(n.OptionIndices)-1]; last >= len(to.Options) {
		return n, Errorf(InvalidRequest, "answers[%d].option_indices: there is no option %d; allowed are 0 to %d", q, last, len(to.Options)-1)
	}
	if len(n.OptionIndices) > 1 && !to.Multiple {
		return n, Errorf(InvalidRequest, "answers[%d].option_indices: this question takes one option, got %d", q, len(n.OptionIndices))
	}
	takesText := func(index int) bool { return to.Options[index].AllowsText }
	if n.Text != "" && !slices.ContainsFunc(n.OptionIndices, takesText) {
		return n, Errorf(InvalidRequest, "answers[%d].text: none of the chosen options takes text", q)
	}
	return n, nil
}

func sameAnswers(a, b []Answer) bool {
	return slices.EqualFunc(a, b, func(a, b Answer) bool {
		return a.Text == b.Text && slices.Equal(a.OptionIndices, b.OptionIndices)
	})
}
