package views

import "strconv"

// htmxConfig switches off what we do not use: htmx posts forms and app.js puts the answers in place, so that one piece of code
// decides what may replace a card (see "Cards" there). No style of its own, no history, and no swap that we did not ask for.
const htmxConfig = `{"history":false,"includeIndicatorCSS":false,"noSwap":[204,304,"4xx","5xx"],"defaultTimeout":30000,"extensions":"none"}`

func (p Page) documentTitle() string {
	title := p.Title + " · Sayso"
	if p.Open > 0 {
		return "(" + strconv.Itoa(p.Open) + ") " + title
	}
	return title
}

// self is the address that loads this page again. An empty link would do on most pages, but not on one that answers a posted form.
func (p Page) self() string {
	if p.Self == "" {
		return p.URL("/")
	}
	return p.Self
}

// command is how to call the program on the server's machine, with these arguments.
func (p Page) command(arguments string) string {
	if p.Command == "" {
		return "sayso " + arguments
	}
	return p.Command + " " + arguments
}

func (p Page) agentsURL() string { return p.URL("/projects/" + p.Project + "/agents") }

func (p Page) inboxURL() string {
	if len(p.Projects) == 0 {
		return p.URL("/")
	}
	return p.URL("/projects/" + p.Project)
}
func (p Page) auditURL() string { return p.URL("/projects/" + p.Project + "/audit") }

func (p Page) settingsURL() string { return p.URL("/projects/" + p.Project + "/settings/policies") }

func (p Page) current(s Section) string {
	return currently(p.Section == s)
}

// counted is "1 open request", "2 open requests".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
