package views

import (
	"slices"
	"strings"
	"time"

	"sayso/internal/display"
)

// Embeds is the apps that embed a project's cards, and the forms that register and change them.
type Embeds struct {
	Page
	URL       string // of this page, and where the form that registers goes
	Address   string // of this server, as the apps must name it
	API       string // path of the project in the REST API
	Loopback  bool   // pages of loopback may be registered over http
	Rows      []EmbedRow
	NextURL   string
	Agents    []EmbedAgent // to choose from
	Problem   string       // what was wrong with the form just posted; "" for nothing
	ProblemOf string       // id of the registration whose form it was; "" for the new one
	Typed     EmbedForm    // what that form held
}

// EmbedAgent is an agent to choose.
type EmbedAgent struct {
	ID   string
	Name display.Text
}

// EmbedRow is one registration.
type EmbedRow struct {
	ID                   string
	Name                 display.Text
	Form                 EmbedForm
	CreatedAt            time.Time
	ChangeURL, DeleteURL string
}

// EmbedForm is what a registration's form holds.
type EmbedForm struct {
	Name        string
	Agents      []string // ids; none: all of the project
	Resolve     bool
	Origins     string // one below the other
	OpenInSayso bool
	Enabled     bool
}

// form is what the form of a registration shows: what is so, or what was typed when it was refused.
func (e Embeds) form(row EmbedRow) EmbedForm {
	if e.Problem != "" && e.ProblemOf == row.ID {
		return e.Typed
	}
	return row.Form
}

func (e Embeds) refused(id string) bool { return e.Problem != "" && e.ProblemOf == id }

// choices are the agents to choose from, and those chosen that are not among them any more.
func (e Embeds) choices(f EmbedForm) []EmbedAgent {
	all := slices.Clone(e.Agents)
	for _, id := range f.Agents {
		if !slices.ContainsFunc(all, func(a EmbedAgent) bool { return a.ID == id }) {
			all = append(all, EmbedAgent{ID: id, Name: display.Line(id)})
		}
	}
	return all
}

func (f EmbedForm) has(id string) bool { return slices.Contains(f.Agents, id) }

// may is what people may do in the frame, in words.
func (f EmbedForm) may() string {
	switch {
	case !f.Enabled:
		return "Disabled"
	case f.Resolve && f.OpenInSayso:
		return "Answer, and allow in Sayso"
	case f.Resolve:
		return "Answer"
	}
	return "Look"
}

// pageExample is what goes into a page of the app.
func (e Embeds) pageExample(id string) string {
	return `<script src="` + e.Address + `/embed.js"></script>
<div id="requests"></div>
<script>
  Sayso.mount(document.querySelector('#requests'), {
    embedId: '` + id + `',
    getToken: () => fetch('/sayso-token', { method: 'POST' }).then((answer) => answer.text()),
  })
</script>`
}

// backEndExample asks for a token, as the app's back end does at /sayso-token for whoever is signed in there.
func (e Embeds) backEndExample(row EmbedRow) string {
	origin, _, _ := strings.Cut(row.Form.Origins, "\n")
	return `curl -X POST ` + e.Address + e.API + `/embeds/` + row.ID + `/tokens \
  -H "Authorization: Bearer $SAYSO_EMBED_KEY" -H 'Content-Type: application/json' \
  -d '{"subject": "4711", "name": "Dana", "origin": "` + origin + `"}'`
}
