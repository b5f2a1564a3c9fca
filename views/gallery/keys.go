package gallery

import (
	"time"

	"sayso/internal/display"
	"sayso/views"
)

func keys(adjust ...func(*views.Keys)) views.Keys {
	k := views.Keys{
		Page: frame("API keys", views.SectionSettings, 2), URL: "/projects/default/settings/keys", NextURL: "/projects/default/settings/keys?cursor=x",
		Form: views.KeyForm{
			Once: "once", Agents: []string{"swe", "release"},
			Scopes: []views.Scope{{Name: "read", About: "sees requests, agents and conversations"}, {Name: "resolve", About: "answers requests and writes to agents", Chosen: true}},
		},
		Rows: []views.KeyRow{
			keyRow("chat relay", func(r *views.KeyRow) { r.Operator, r.Scopes = true, "read, resolve" }),
			keyRow("build machine", func(r *views.KeyRow) { r.UsedAt = before(9 * time.Second) }),
			keyRow("swe on the laptop of Dana", func(r *views.KeyRow) {
				r.Agent, r.AgentURL, r.UsedAt = display.Line("swe"), "/projects/default/agents/agt_sampleswe", before(40*24*time.Hour)
			}),
			keyRow("old one", func(r *views.KeyRow) { r.RevokedAt = before(3 * time.Hour) }),
			keyRow("agent key of this machine", func(r *views.KeyRow) { r.CreatedBy = display.Text{} }),
		},
	}
	k.LiveURL, k.CardsURL = "", ""
	for _, f := range adjust {
		f(&k)
	}
	return k
}

func keyRow(name string, adjust func(*views.KeyRow)) views.KeyRow {
	r := views.KeyRow{
		ID: "key_sample", Name: display.Line(name), LastFour: "x7Qa", CreatedBy: display.Line("Dana Scully"), CreatedAt: before(50 * 24 * time.Hour),
		RevokeURL: "/projects/default/settings/keys/key_sample/revoke",
	}
	adjust(&r)
	return r
}

func madeKey(k *views.Keys) {
	k.Made = &views.MadeKey{Name: display.Line("build machine"), Secret: "sayso_agt_000000000000000000000000000000000000"}
}

func madeBefore(k *views.Keys) { k.Made = &views.MadeKey{Name: display.Line("build machine")} }

func noKey(k *views.Keys) {
	k.Problem, k.Form.Name, k.Form.Agent = "No key was made. There is no active agent with this key or name.", "build machine", "nobody"
}

func noKeys(k *views.Keys) { k.Rows, k.NextURL = nil, "" }
