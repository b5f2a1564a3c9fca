//go:build sqlite_fts5

package e2e

import (
	"encoding/csv"
	"net/url"
	"strings"
	"testing"
	"time"

	"sayso/internal/api"
)

// A team lead asks what became of a request that nobody answered: opens the audit, filters by reason and period, looks for a word of the
// command, opens the request, sees what superseded it, and takes the list along. It works without JavaScript as well.
func TestLeadAudits(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) { leadAudits(t, d) })
	for _, d := range []device{phone.withoutScript(), desktop.withoutScript()} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			leadAudits(t, d)
		})
	}
}

func leadAudits(t *testing.T, d device) {
	p := start(t)
	swe := p.agent("swe")
	withdrawn := swe.wantsToRun("make walrus")
	_, err := p.asking.Cancel(t.Context(), swe.id, withdrawn.ID)
	must(t, err)
	superseded := swe.wantsToRun("rm -rf ./zebra \u202e")
	steer(p, swe, "Leave the zebras alone.")
	p.choose(swe.wantsToRun("make zebra"), "Dana", 1, "=No")

	v := p.open(d, "/")
	v.follow(".rail-links a[href$='/audit']")
	v.expect(shows("h1", "Audit"))
	v.expect(shows(".tabs [aria-current=page]", "Canceled"))
	v.expect(rowsAre(withdrawn, superseded))
	v.expect(shows(".audit-why", "Leave the zebras alone."))
	v.click(".chart-days summary")
	v.expect(shows(".day-list", "Canceled 2"))
	v.fits()
	v.isAccessible()

	day := superseded.CreatedAt.UTC()
	v.run("document.querySelector('#audit-cancel_reason').value = 'superseded_by_input'")
	v.run("document.querySelector('#audit-from').value = " + js(day.Format(time.DateOnly)))
	v.run("document.querySelector('#audit-to').value = " + js(day.AddDate(0, 0, 1).Format(time.DateOnly)))
	v.follow(".audit-buttons button")
	v.expect(rowsAre(superseded))
	v.expect("document.querySelector('#audit-cancel_reason').value === 'superseded_by_input'")

	v.write("#audit-q", "zebra rm")
	v.follow(".audit-buttons button")
	v.expect(rowsAre(superseded))
	v.expect(shows(".figures", "Requests 1"))
	v.isAccessible()
	here := v.path()
	if query, err := url.ParseQuery(here[strings.Index(here, "?")+1:]); err != nil || query.Get("q") != "zebra rm" || query.Get("outcome") != "canceled" {
		t.Errorf("the address %s does not say what is shown", here)
	}

	v.expect(`(() => {
		const cell = document.querySelector('.audit-when')
		cell.scrollIntoView({ block: 'center' })
		const { x, y, width, height } = cell.getBoundingClientRect()
		return document.elementFromPoint(x + width / 2, y + height / 2).matches('a.audit-link') // all of the row opens it
	})()`)
	v.follow("a.audit-link")
	if at := v.path(); at != p.config.BasePath+permalink(superseded) {
		t.Fatalf("the row led to %s, want %s", at, permalink(superseded))
	}
	v.expect(holdsText(card(superseded.ID, ""), "Leave the zebras alone."))
	v.expect(shows(".history", "Canceled by"))

	v.goTo(strings.TrimPrefix(here, p.config.BasePath))
	file := p.send("GET", strings.TrimPrefix(read[string](v, "document.querySelector('.audit-export a').getAttribute('href')"), p.config.BasePath), nil, "Cookie", p.session().String())
	rows, err := csv.NewReader(strings.NewReader(file.body)).ReadAll()
	must(t, err)
	if line := strings.Join(rows[len(rows)-1], "|"); len(rows) != 2 || !strings.Contains(line, superseded.ID) || !strings.Contains(line, "rm -rf ./zebra ⟨U+202E⟩") {
		t.Errorf("%d rows exported, the last: %s", len(rows), line)
	}

	v.follow(".tabs a[href*='outcome=all']")
	v.expect(rowsAre(superseded)) // the filter stays
	v.follow(".audit-buttons a")
	v.expect("document.querySelectorAll('.audit-table tbody tr').length === 3")
	v.isAccessible()
	v.follow(".tabs a[href*='outcome=policy']")
	v.expect(shows(".empty", "so that nobody was asked, appear here"))
	v.isAccessible()
}

// steer sends the agent a message that supersedes what it has open.
func steer(p *product, a *asker, text string) {
	p.t.Helper()
	got := p.send("POST", a.page()+"/inputs", url.Values{"text": {text}, "mode": {"steering"}, "cancel_open_interactions": {"1"}},
		"Cookie", p.session().String(), "Origin", p.origin(), "Sec-Fetch-Site", "same-origin")
	if got.status != 303 {
		p.t.Fatalf("steer: %d %s", got.status, got.body)
	}
}

// rowsAre is an expression: the audit's table has these, in whatever order, and no others.
func rowsAre(wanted ...api.Interaction) string {
	parts := []string{"document.querySelectorAll('.audit-table tbody tr').length === " + js(len(wanted))}
	for _, i := range wanted {
		parts = append(parts, has(".audit-table a[href$="+js(permalink(i))+"]"))
	}
	return strings.Join(parts, " && ")
}
