package gallery

import (
	"strings"

	"sayso/internal/display"
	"sayso/views"
)

func questions() []namedCard {
	return []namedCard{
		{"question", question("question", database())},
		{"question-multiple", question("multiple", checks())},
		{"question-three", question("three", database(), checks(), free())},
		{"question-of-many-words", question("words", wordy())},
		{"question-problem", refused()},
		{"question-read-only", readOnlyQuestion()},
	}
}

// question is a question card: titled with the beginning of its only prompt, or of the first and how many more there are.
func question(name string, qs ...views.Question) views.Card {
	title := qs[0].Prompt.String()
	title = title[:min(300, len(title))]
	if len(qs) > 1 {
		title += " (+2 more)"
	}
	c := card(name, views.QuestionKind, title)
	c.Questions = qs
	return c
}

func database() views.Question {
	return views.Question{
		Prompt: display.Show("Which database should the tests use?"),
		Header: display.Line("Database"),
		Options: []views.Option{
			{Label: display.Line("PostgreSQL"), Description: display.Show("As in production. Needs a server, and takes about a minute longer.")},
			{Label: display.Line("SQLite in memory"), Description: display.Show("Fast, and differs from production in a few types.")},
			{Label: display.Line("Other"), AllowsText: true},
		},
	}
}

func checks() views.Question {
	return views.Question{
		Prompt:   display.Show("What should run before I open the pull request?"),
		Multiple: true,
		Options: []views.Option{
			{Label: display.Line("Unit tests")},
			{Label: display.Line("Browser tests"), Description: display.Show("About six minutes.")},
			{Label: display.Line("Only some of them"), AllowsText: true},
			{Label: display.Line("Nothing")},
		},
	}
}

func free() views.Question {
	return views.Question{
		Prompt: display.Show("Anything I should know?"),
		Options: []views.Option{
			{Label: display.Line("No")},
			{Label: display.Line("Yes"), AllowsText: true},
		},
	}
}

func wordy() views.Question {
	q := views.Question{Prompt: display.Show(strings.Repeat("The migration touches every order since 2019 and cannot be undone once the old column is gone. ", 12))}
	for range 8 {
		q.Options = append(q.Options, views.Option{
			Label:       display.Line(strings.Repeat("Keep the old column for a release and copy into both of them ", 3)),
			Description: display.Show(strings.Repeat("Slower writes for a week, and a second migration later. ", 6)),
			AllowsText:  true,
		})
	}
	return q
}

func refused() views.Card {
	first, second := database(), checks()
	first.Options[2].Chosen = true
	first.Text = "MariaDB 11"
	second.Problem = "Choose at least one option."
	c := question("refused", first, second, free())
	c.Problem = &views.Problem{Message: "One question has no answer yet. Nothing was recorded."}
	return c
}

func readOnlyQuestion() views.Card {
	c := question("readonlyquestion", database())
	c.ReadOnly = true
	return c
}
