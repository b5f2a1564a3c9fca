package interaction

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// texts are answers' texts, blanks in all places included.
var texts = rapid.StringOf(rapid.RuneFrom([]rune("aé🙂 \t\n\u00a0\u3000\u200b")))

// asked is a question with some options, some of which take text.
var asked = rapid.Custom(func(t *rapid.T) Question {
	q := Question{Prompt: "P", Multiple: rapid.Bool().Draw(t, "multiple")}
	for range rapid.IntRange(1, 6).Draw(t, "options") {
		q.Options = append(q.Options, Option{Label: "L", AllowsText: rapid.Bool().Draw(t, "allows text")})
	}
	return q
})

// answered is an answer that fits q.
func answered(t *rapid.T, q Question) Answer {
	all := make([]int, len(q.Options))
	for i := range all {
		all[i] = i
	}
	n := 1
	if q.Multiple {
		n = rapid.IntRange(1, len(all)).Draw(t, "chosen")
	}
	a := Answer{OptionIndices: rapid.Permutation(all).Draw(t, "order")[:n], Text: texts.Draw(t, "text")}
	if !slices.ContainsFunc(a.OptionIndices, func(i int) bool { return q.Options[i].AllowsText }) {
		a.Text = strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return r
			}
			return -1
		}, a.Text)
	}
	return a
}

// TestNormalisedAnswers checks what is stored of answers that fit: indices ascending, text trimmed, and nothing else changed.
func TestNormalisedAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		questions := rapid.SliceOfN(asked, 1, 4).Draw(t, "questions")
		answers := make([]Answer, len(questions))
		for i, q := range questions {
			answers[i] = answered(t, q)
		}
		before := slices.Clone(answers)
		if err := CheckAnswers(answers); err != nil {
			t.Fatalf("refused: %v", err)
		}
		stored, err := normaliseAnswers(questions, answers)
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		for i, a := range stored {
			if !slices.IsSorted(a.OptionIndices) || !slices.Equal(a.OptionIndices, slices.Sorted(slices.Values(answers[i].OptionIndices))) {
				t.Fatalf("indices %v of %v", a.OptionIndices, answers[i].OptionIndices)
			}
			if a.Text != strings.TrimSpace(answers[i].Text) {
				t.Fatalf("text %q of %q", a.Text, answers[i].Text)
			}
		}
		if again, err := normaliseAnswers(questions, stored); err != nil || !sameAnswers(again, stored) {
			t.Fatalf("normalised twice: %v, %v", again, err)
		}
		if !cmp.Equal(before, answers) {
			t.Fatal("what was given was changed")
		}
	})
}

// TestSameAnswers checks that answers are the same exactly when they are stored alike.
func TestSameAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := []Question{asked.Draw(t, "question")}
		one, two := []Answer{answered(t, q[0])}, []Answer{answered(t, q[0])}
		first, err1 := normaliseAnswers(q, one)
		second, err2 := normaliseAnswers(q, two)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if same := cmp.Equal(first, second); sameAnswers(first, second) != same || sameAnswers(second, first) != same || !sameAnswers(first, first) {
			t.Fatalf("%v and %v", first, second)
		}
	})
}

// TestAnswersThatDoNotFit changes one thing about answers that fit: they are refused, and the error names question and index.
func TestAnswersThatDoNotFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		questions := rapid.SliceOfN(asked, 1, 4).Draw(t, "questions")
		answers := make([]Answer, len(questions))
		for i, q := range questions {
			answers[i] = answered(t, q)
		}
		at := rapid.IntRange(0, len(questions)-1).Draw(t, "at")
		a, q := &answers[at], questions[at]
		code, says := InvalidRequest, "answers["+string(rune('0'+at))+"]"
		switch rapid.SampledFrom([]string{"beyond", "negative", "twice", "none", "several", "text", "fewer", "more"}).Draw(t, "fault") {
		case "beyond":
			a.OptionIndices[0] = rapid.IntRange(len(q.Options), math.MaxInt).Draw(t, "index")
		case "negative":
			a.OptionIndices[0], code = rapid.IntRange(math.MinInt, -1).Draw(t, "index"), ValidationFailed
		case "twice":
			a.OptionIndices, code = append(a.OptionIndices, a.OptionIndices[0]), ValidationFailed
		case "none":
			a.OptionIndices, code = nil, ValidationFailed
		case "several":
			if q.Multiple || len(q.Options) < 2 {
				return
			}
			a.OptionIndices = []int{1, 0}
		case "text":
			if slices.ContainsFunc(q.Options, func(o Option) bool { return o.AllowsText }) {
				return
			}
			a.Text = "x"
		case "fewer":
			if answers = answers[1:]; len(answers) == 0 {
				code = ValidationFailed
			}
			says = "answers"
		case "more":
			answers, says = append(answers, Answer{OptionIndices: []int{0}}), "answers"
		}
		err := CheckAnswers(answers)
		if err == nil {
			_, err = normaliseAnswers(questions, answers)
		}
		if CodeOf(err) != code || !strings.Contains(AsError(err).Message, says) {
			t.Fatalf("%v: %v, want %s that says %s", answers, err, code, says)
		}
	})
}
