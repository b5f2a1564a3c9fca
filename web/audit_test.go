package web_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// audited is a site with one request of each outcome, a second apart, in the order of their names.
type audited struct {
	*site
	cookie *http.Cookie
	id     string // of the agent
	path   string
	ids    map[string]string // by outcome
}

const inTheirOrder = "canceled expired allowed denied answered policy open"

func newAudited(t *testing.T) *audited {
	s := newRuledSite(t)
	s.clock.now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	a := &audited{site: s, cookie: s.signedIn(), ids: map[string]string{}}
	a.id, a.path = s.newAgent("swe")
	asks := func(outcome, body string) string {
		i, at := s.asks(a.path, body)
		a.ids[outcome] = i.ID
		s.clock.Advance(time.Second)
		return at
	}
	asks("canceled", asking("Slow", `{"command":"build the zebra"}`))
	s.sends(a.path, said("Use the giraffe instead.", steering, `,"cancel_open_interactions":true`))
	asks("expired", `{"timeout_secs":1,`+asking("Slow", `{"command":"=1+1"}`)[1:])
	must(t, s.service.ExpireDue(t.Context()))
	s.call(s.operator, "POST", asks("allowed", asking("Slow", `{"command":"build"}`))+"/resolve", `{"answers":[{"option_indices":[0]}],"note":"@once"}`)
	s.call(s.operator, "POST", asks("denied", asking("Slow", `{"command":"ls \u202e\u200b"}`))+"/resolve",
		`{"answers":[{"option_indices":[1],"text":"=HYPERLINK(\"http://x\")"}],"actor":{"provider_user_id":"U1","display_name":"+Dana"}}`)
	s.call(s.operator, "POST", asks("answered", strings.Replace(question, `"title":"`, `"title":"-`, 1))+"/resolve", allow)
	s.call(s.agent, "POST", a.path+"/interactions", asking("git.push", `{"command":"push <b>walrus</b>"}`))
	s.clock.Advance(time.Second)
	asks("open", asking("Slow", `{"command":"wait"}`))
	return a
}

// searches says whether this program can; see the Makefile.
func (s *site) searches() bool {
	return s.call(s.operator, "GET", project+"/interactions?q=x", "").status != http.StatusServiceUnavailable
}

type auditRow struct {
	Outcome string `json:"outcome"`
	Audit   struct {
		Sequence int    `json:"sequence"`
		Hash     string `json:"hash"`
	} `json:"audit"`
	Interaction *api.Interaction `json:"interaction"`
	Decision    map[string]any   `json:"decision"`
}

// listed are the outcomes of a list of the audit, newest last.
func (a *audited) listed(query string) string {
	a.t.Helper()
	var got []string
	for _, row := range page[auditRow](a.t, a.call(a.operator, "GET", project+"/audit?"+query, "")).Data {
		got = append([]string{row.Outcome}, got...)
		if row.Interaction != nil && row.Interaction.ID != a.ids[row.Outcome] || (row.Decision == nil) == (row.Interaction == nil) {
			a.t.Errorf("%s: %+v", query, row)
		}
	}
	return strings.Join(got, " ")
}

// TestAuditFilters holds the filters of the API and those of the page against the same rows.
func TestAuditFilters(t *testing.T) {
	a := newAudited(t)
	id := func(path string) string { return path[len(project+"/agents/"):] }
	_, other := a.newAgent("other")
	for _, c := range []struct{ query, page, want string }{
		{"", "outcome=all", inTheirOrder},
		{"outcome=canceled", "", "canceled"},
		{"outcome=canceled", "outcome=&agent=&kind=&q=+&from=", "canceled"},
		{"outcome=expired", "outcome=expired", "expired"},
		{"outcome=allowed", "outcome=allowed", "allowed"},
		{"outcome=denied", "outcome=denied", "denied"},
		{"outcome=answered", "outcome=answered", "answered"},
		{"outcome=policy", "outcome=policy", "policy"},
		{"outcome=open", "outcome=open", "open"},
		{"kind=question", "outcome=all&kind=question", "answered"},
		{"kind=permission", "outcome=all&kind=permission", "canceled expired allowed denied policy open"},
		{"cancel_reason=superseded_by_input", "outcome=all&cancel_reason=superseded_by_input", "canceled"},
		{"cancel_reason=expired", "outcome=all&cancel_reason=expired", "expired"},
		{"cancel_reason=expired&outcome=canceled", "cancel_reason=expired", ""},
		{"agent_id=" + a.id, "outcome=all&agent=" + a.id, inTheirOrder},
		{"agent_id=" + a.id, "outcome=all&agent=swe", inTheirOrder},
		{"agent_id=" + id(other), "outcome=all&agent=other", ""},
		{"agent_id=agt_aaaaaaaaaaaaaaaaaaaaaaaaaa", "outcome=all&agent=nobody", ""},
		{"resolved_by=%2BDana", "outcome=all&resolved_by=%2BDana", "denied"},
		{"resolved_by=operator", "outcome=all&resolved_by=operator", "canceled allowed answered"},
		{"channel=api", "outcome=all&channel=api", "canceled allowed denied answered"},
		{"channel=embed", "outcome=all&channel=embed", ""},
		{"from=2026-11-30", "outcome=all&from=2026-11-30", inTheirOrder},
		{"from=2026-12-01", "outcome=all&from=2026-12-01", ""},
		{"to=2026-11-30", "outcome=all&to=2026-11-30", inTheirOrder},
		{"to=2026-11-29", "outcome=all&to=2026-11-29", ""},
		{"from=2026-11-30T12:00:02Z&to=2026-11-30T12:00:04Z", "outcome=all&from=2026-11-30T12:00:02Z&to=2026-11-30T12:00:04Z", "allowed denied"},
	} {
		if got := a.listed(c.query); got != c.want {
			t.Errorf("list %s: %s, want %s", c.query, got, c.want)
		}
		if got := a.shown(c.page); got != c.want {
			t.Errorf("page %s: %s, want %s", c.page, got, c.want)
		}
	}
}

var outcomeOfRow = regexp.MustCompile(`<tr role="row" data-outcome="(\w+)">`)

// shown are the outcomes of the rows of the page, newest last.
func (a *audited) shown(query string) string {
	a.t.Helper()
	var got []string
	for _, row := range outcomeOfRow.FindAllStringSubmatch(a.opens("?"+query), -1) {
		got = append([]string{row[1]}, got...)
	}
	return strings.Join(got, " ")
}

// opens gives the page, or any of its links.
func (a *audited) opens(query string) string {
	a.t.Helper()
	got := a.page(a.cookie, "/projects/default/audit"+query)
	if got.status != http.StatusOK {
		a.t.Errorf("%s: %d %.300s", query, got.status, got.body)
	}
	return string(got.body)
}

// TestAuditPage checks what a row says, and that what agents wrote is text.
func TestAuditPage(t *testing.T) {
	a := newAudited(t)
	all := a.opens("?outcome=all")
	text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(all, ""))
	for _, want := range []string{
		"A newer message to the agent replaced this request.", "Use the giraffe instead.", "+Dana", `=HYPERLINK("http://x")`, "⟨U+202E⟩", "@once",
		"Denied by policy", "push <b>walrus</b>", "Requests", "7", "Requests per day (UTC): 7 on 2026-11-30.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for outcome, id := range a.ids {
		if link := `class="audit-link" href="/projects/default/interactions/` + id + `"`; !strings.Contains(all, link) {
			t.Errorf("%s has no link to %s", outcome, id)
		}
	}
	if strings.Contains(all, "<b>walrus") || strings.Contains(all, "style=") {
		t.Error("an agent's text is markup, or there is a style in the page")
	}
	if first := a.opens(""); !strings.Contains(first, `outcome=canceled" aria-current="page"`) || !strings.Contains(first, `<a href="/projects/default/audit" aria-current="page">`) {
		t.Error("the page does not open on what was canceled, or the rail does not say where one is")
	}
	for query, want := range map[string]string{
		"?outcome=policy&agent=nobody":     `No agent of this project has the key`,
		"?cancel_reason=expired":           "they are under Expired",
		"?outcome=expired&from=2030-01-01": "Requests that nobody answered in time appear here.",
	} {
		if !strings.Contains(a.opens(query), want) {
			t.Errorf("%s lacks %q", query, want)
		}
	}
	for _, bad := range []string{"?outcome=x", "?kind=x", "?from=yesterday", "?older=x", "?newer=a0", "?unknown=1", "?outcome=open&outcome=all", "?cancel_reason=x", "?channel=x"} {
		if got := a.page(a.cookie, "/projects/default/audit"+bad); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, got.status)
		}
	}
}

var pageLink = regexp.MustCompile(`rel="(prev|next)" href="([^"]+)"`)

// TestAuditPages goes to the oldest page and back by the links alone, and by the cursors of the API.
func TestAuditPages(t *testing.T) {
	a := newAudited(t)
	for range 101 {
		_, at := a.asks(a.path, asking("Slow", `{"command":"again"}`))
		a.call(a.agent, "POST", at+"/cancel", "")
	}
	links := func(body string) map[string]string {
		of := map[string]string{}
		for _, m := range pageLink.FindAllStringSubmatch(body, -1) {
			of[m[1]] = strings.TrimPrefix(html.UnescapeString(m[2]), "/projects/default/audit")
		}
		return of
	}
	rows := func(body string) int { return len(outcomeOfRow.FindAllString(body, -1)) }
	body, at := a.opens("?agent=swe"), ""
	first := outcomeLinks.FindAllString(body, -1)
	var sizes []int
	for sizes = append(sizes, rows(body)); links(body)["next"] != ""; sizes = append(sizes, rows(body)) {
		at = links(body)["next"]
		body = a.opens(at)
	}
	if d := cmp.Diff([]int{50, 50, 2}, sizes); d != "" || !strings.Contains(at, "agent=swe") {
		t.Errorf("pages of %v at %s", sizes, at)
	}
	for links(body)["prev"] != "" {
		body = a.opens(links(body)["prev"])
	}
	if d := cmp.Diff(first, outcomeLinks.FindAllString(body, -1)); d != "" {
		t.Errorf("back on the first page: %s", d)
	}
	seen, cursor := map[string]bool{}, ""
	for more := true; more; {
		list := page[auditRow](t, a.call(a.operator, "GET", project+"/audit?limit=10"+cursor, ""))
		for _, row := range list.Data {
			if seen[row.Audit.Hash] {
				t.Fatalf("%s twice", row.Audit.Hash)
			}
			seen[row.Audit.Hash] = true
		}
		if more = list.NextCursor != nil; more {
			cursor = "&cursor=" + *list.NextCursor
		}
	}
	if len(seen) != 108 {
		t.Errorf("%d rows, want 108", len(seen))
	}
}

var outcomeLinks = regexp.MustCompile(`interactions/int_\w+`)

// TestAuditOfAnotherProject: nothing of a project is in the audit of another, by whatever filter.
func TestAuditOfAnotherProject(t *testing.T) {
	a := newAudited(t)
	a.exec("INSERT INTO projects (org, id, slug, name, created_at) SELECT key, ?, 'second', 'Second', 1 FROM orgs", interaction.NewID(interaction.ProjectPrefix, a.clock.Now()))
	queries := []string{"", "outcome=canceled", "agent_id=" + a.id, "resolved_by=operator"}
	if a.searches() {
		queries = append(queries, "q=build")
	}
	second := strings.Replace(project, "projects/default", "projects/second", 1)
	for _, query := range queries {
		if got := page[auditRow](t, a.call(a.operator, "GET", second+"/audit?"+query, "")).Data; len(got) != 0 {
			t.Errorf("%s: %+v", query, got)
		}
		for _, format := range []string{"csv", "jsonl"} {
			if got := a.call(a.operator, "GET", second+"/audit/export?format="+format+"&"+query, ""); got.status != 200 || bytes.Contains(got.body, []byte(a.id)) {
				t.Errorf("%s as %s: %d %s", query, format, got.status, got.body)
			}
		}
	}
	if got := a.page(a.cookie, "/projects/second/audit?outcome=all&agent="+a.id); got.status != 200 || outcomeOfRow.Match(got.body) {
		t.Errorf("the page: %d", got.status)
	}
	if got := a.page(a.cookie, "/projects/third/audit"); got.status != http.StatusNotFound {
		t.Errorf("of no project: %d", got.status)
	}
}

// TestExportCSV reads what a spreadsheet would: every row with its id, digest and hash, no formula, nothing hidden.
func TestExportCSV(t *testing.T) {
	a := newAudited(t)
	got := a.call(a.operator, "GET", project+"/audit/export?format=csv", "")
	if disposition := got.header.Get("Content-Disposition"); disposition != `attachment; filename="sayso-audit-default-20261130-120007.csv"` {
		t.Errorf("%s", disposition)
	}
	if kind := got.header.Get("Content-Type"); kind != "text/csv; charset=utf-8" {
		t.Errorf("%s", kind)
	}
	rows, err := csv.NewReader(bytes.NewReader(got.body)).ReadAll()
	must(t, err)
	column := map[string]int{}
	for n, name := range rows[0] {
		column[name] = n
	}
	of := map[string][]string{}
	for _, row := range rows[1:] {
		of[row[column["outcome"]]] = row
		for n, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") || strings.ContainsAny(cell, "\u202e\u200b\r\x1b") {
				t.Errorf("%s: %q", rows[0][n], cell)
			}
		}
	}
	if len(rows) != 8 || len(of) != 7 {
		t.Fatalf("%d rows of %d outcomes", len(rows), len(of))
	}
	for _, c := range []struct{ outcome, column, want string }{
		{"canceled", "cancel_reason", "superseded_by_input"},
		{"canceled", "superseding_message", "Use the giraffe instead."},
		{"canceled", "asked_at", "2026-11-30T12:00:00.000Z"},
		{"canceled", "open_seconds", "1.000"},
		{"expired", "evidence", "Command: =1+1"},
		{"allowed", "reason", "'@once"},
		{"denied", "reason", `'=HYPERLINK("http://x")`},
		{"denied", "by", "'+Dana"},
		{"denied", "evidence", "Command: ls ⟨U+202E⟩⟨U+200B⟩"},
		{"denied", "agent", "swe"},
		{"policy", "request", "git.push"},
		{"policy", "policy", "deny by auto_deny git.push*"},
		{"open", "ended_at", ""},
	} {
		if got := of[c.outcome][column[c.column]]; got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.column, c.outcome, got, c.want)
		}
	}
	if got := of["answered"][column["request"]]; !strings.HasPrefix(got, "'-") {
		t.Errorf("the title is %q", got)
	}
	for outcome, id := range a.ids {
		row := of[outcome]
		var digest, hash string
		must(t, a.database().QueryRow(`SELECT json_extract(u.entry, '$.digest'), lower(hex(u.hash)) FROM audit_entries u
			WHERE json_extract(u.entry, '$.interaction_id') = ? ORDER BY u.key DESC LIMIT 1`, id).Scan(&digest, &hash))
		if row[column["interaction_id"]] != id || row[column["digest"]] != digest || row[column["audit_hash"]] != hash {
			t.Errorf("%s: %v, want %s %s %s", outcome, row, id, digest, hash)
		}
	}
	if page := a.page(a.cookie, "/projects/default/audit/export?format=csv&outcome=all"); !bytes.Equal(page.body, got.body) {
		t.Error("the page exports another file than the API")
	}
	if page := a.page(a.cookie, "/projects/default/audit/export"); bytes.Count(page.body, []byte("\n")) != 2 {
		t.Errorf("what the page opens on: %s", page.body)
	}
}

// TestExportJSONL holds each line against the record that the API gives, byte for byte.
func TestExportJSONL(t *testing.T) {
	a := newAudited(t)
	got := a.call(a.operator, "GET", project+"/audit/export?format=jsonl", "")
	lines := strings.Split(strings.TrimSuffix(string(got.body), "\n"), "\n")
	if len(lines) != 7 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		var row struct {
			ID      string `json:"id"`
			Outcome string `json:"outcome"`
			Audit   struct {
				Sequence int    `json:"sequence"`
				Hash     string `json:"hash"`
				By       string `json:"credential"`
			} `json:"audit"`
		}
		must(t, json.Unmarshal([]byte(line), &row))
		by := ""
		if row.Audit.By != "" {
			by = fmt.Sprintf(`,"credential":%q`, row.Audit.By)
		}
		added := fmt.Sprintf(`,"outcome":%q,"audit":{"sequence":%d,"hash":%q%s}}`, row.Outcome, row.Audit.Sequence, row.Audit.Hash, by)
		if ended := row.Outcome != "open" && row.Outcome != "policy" && row.Outcome != "expired"; ended != (by != "") {
			t.Errorf("%s by %q", row.Outcome, row.Audit.By)
		}
		var record string
		if row.Outcome == "policy" {
			must(t, a.database().QueryRow("SELECT record FROM policy_decisions WHERE id = ?", row.ID).Scan(&record))
		} else {
			record = strings.TrimSuffix(string(a.call(a.operator, "GET", a.path+"/interactions/"+row.ID, "").body), "\n")
		}
		if want := strings.TrimSuffix(record, "}") + added; line != want {
			t.Errorf("got  %s\nwant %s", line, want)
		}
	}
	if !strings.Contains(string(got.body), `\u202e`) && !strings.Contains(string(got.body), "\u202e") {
		t.Error("the original characters are gone")
	}
}

// TestLongExport has more rows than are in memory at once, and then one that cannot be read: the file must not end as if it were whole.
func TestLongExport(t *testing.T) {
	a := newAudited(t)
	for range 250 {
		_, at := a.asks(a.path, asking("Slow", `{"command":"again"}`))
		a.call(a.agent, "POST", at+"/cancel", "")
	}
	if got := a.call(a.operator, "GET", project+"/audit/export?format=jsonl", ""); bytes.Count(got.body, []byte("\n")) != 257 {
		t.Errorf("%d lines", bytes.Count(got.body, []byte("\n")))
	}
	a.exec("DROP TRIGGER requests_immutable")
	a.exec("UPDATE requests SET head = x'7b' WHERE interaction = 1")
	_, err := a.try(a.operator, "GET", project+"/audit/export?format=csv", "")
	if err != io.ErrUnexpectedEOF {
		t.Errorf("an export that broke off: %v, want %v", err, io.ErrUnexpectedEOF)
	}
}

// TestAuditIsForThoseWhoMay goes through the scopes; the matrix of all routes says the same of the export.
func TestAuditIsForThoseWhoMay(t *testing.T) {
	a := newAudited(t)
	for _, scope := range interaction.Scopes {
		key := a.newKey(interaction.OperatorPrincipal, string(scope), scope)
		want := http.StatusForbidden
		if scope == interaction.ScopeAudit {
			want = http.StatusOK
		}
		for _, path := range []string{"/audit", "/audit?outcome=canceled", "/audit/export?format=csv", "/audit/export?format=jsonl"} {
			if got := a.call(key, "GET", project+path, ""); got.status != want || want != 200 && strings.Contains(string(got.body), "zebra") {
				t.Errorf("%s with %s: %d %.200s", path, scope, got.status, got.body)
			}
		}
	}
	for _, bad := range []string{"format=xml", "format=", "outcome=all", "cursor=x", "limit=5"} {
		if got := a.call(a.operator, "GET", project+"/audit/export?"+bad, ""); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, got.status)
		}
	}
}
