package gallery

import (
	"time"

	"sayso/internal/display"
	"sayso/views"
)

func embeds(adjust ...func(*views.Embeds)) views.Embeds {
	e := views.Embeds{
		Page: frame("Embedding", views.SectionSettings, 2), URL: "/projects/default/settings/embeds", Address: "https://sayso.example.com", API: "/api/v1/orgs/default/projects/default",
		Agents: []views.EmbedAgent{{ID: "agt_sampleswe", Name: display.Line("swe")}, {ID: "agt_samplereview", Name: display.Line("code-review")}},
		Rows: []views.EmbedRow{
			embedRow("emb_sampleportal", views.EmbedForm{Name: "Portal", Resolve: true, Enabled: true, Agents: []string{"agt_sampleswe"},
				Origins: "https://portal.example.com\nhttps://portal.example.com:8443"}),
			embedRow("emb_samplewall", views.EmbedForm{Name: "Wall\u202e in the office", Origins: "https://wall.example.com"}),
		},
	}
	e.LiveURL, e.CardsURL = "", ""
	for _, f := range adjust {
		f(&e)
	}
	return e
}

func embedRow(id string, form views.EmbedForm) views.EmbedRow {
	at := "/projects/default/settings/embeds/" + id
	return views.EmbedRow{ID: id, Name: display.Line(form.Name), Form: form, CreatedAt: now.Add(-26 * time.Hour), ChangeURL: at, DeleteURL: at + "/delete"}
}

func noEmbeds(e *views.Embeds) { e.Rows, e.Agents, e.Loopback = nil, nil, true }

func refusedEmbed(e *views.Embeds) {
	e.Problem, e.ProblemOf = `Nothing was changed. origins[0]: "https://portal.example.com/" is not an origin`, "emb_sampleportal"
	e.Typed = e.Rows[0].Form
	e.Typed.Origins = "https://portal.example.com/"
}

// framed is a card as an app's frame has it.
func framed(c *views.Card) {
	c.Framed, c.AgentURL, c.PostURL = true, "", "/embed/emb_sampleportal/interactions/"+c.ID+"/resolve"
	for n := range c.Context {
		c.Context[n].RawURL = ""
	}
}

func framedCards() []namedCard {
	asked := question("framedquestion", database())
	framed(&asked)
	return []namedCard{
		{"framed", permission("framed", warned, framed)},
		{"framed-allow-elsewhere", permission("framedelsewhere", framed, elsewhere)},
		{"framed-read-only", permission("framedreadonly", framed, func(c *views.Card) { c.ReadOnly = true })},
		{"framed-not-all-shown", permission("framedhidden", notAllShown, framed)},
		{"framed-question", asked},
		{"framed-denied", ended("frameddenied", views.Denied, 3*time.Minute, reason, framed, func(c *views.Card) {
			c.End.By, c.End.Channel = display.Line("Dana, vouched for by Portal"), "embed"
		})},
	}
}

func elsewhere(c *views.Card) { c.AllowElsewhere = true }

func frames() (all []Sample) {
	for _, state := range []views.FrameState{
		views.FrameConnecting, views.FrameEmpty, views.FrameExpired, views.FrameDisabled, views.FrameUnknown, views.FrameWrongOrigin, views.FrameUnreachable, views.FrameMisused, views.FrameAlone,
	} {
		all = append(all, page("page-frame-"+string(state), views.FramePage(views.Frame{State: state})))
	}
	live := views.Frame{State: views.FrameConnecting, EmbedID: "emb_sampleportal", Origins: []string{"https://portal.example.com"}, Nonce: "nonce"}
	return append(all, page("page-frame", views.FramePage(live)))
}
