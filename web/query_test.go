package web_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sayso/internal/api"
)

// parameter is a query parameter, and values that are refused and taken.
type parameter struct {
	name    string
	refused []string
	says    []string
	taken   []string
}

func words(name string, allowed ...string) parameter {
	refused := []string{"", "x", " " + allowed[0], strings.ToUpper(allowed[0]), allowed[0] + "," + allowed[0]}
	return parameter{name, refused, append([]string{name, "allowed are"}, allowed...), allowed}
}

func exact(name string) parameter {
	return parameter{name, []string{"", " ", "\t\u3000"}, []string{name, "blank"}, []string{"x", "\x00", smile, "'; DROP TABLE agents --", "%", strings.Repeat("x", 5000)}}
}

func moment(name string) parameter {
	return parameter{
		name,
		[]string{"", "yesterday", "2026-01-31", "2026-01-31T12:00:00", "2026-02-30T00:00:00Z", "2026-01-31 12:00:00Z", "1764504000", "2026-01-31T12:00:00z"},
		[]string{name, "2026-01-31T12:00:00.000Z"},
		[]string{"2026-01-31T12:00:00Z", "2026-01-31T12:00:00.123Z", "2026-01-31T12:00:00.123456789Z", "2026-01-31T13:00:00+01:00"},
	}
}

var paging = []parameter{
	{"limit", []string{"", "0", "-1", "101", "1.5", "x", "1e1", "0x1", " 5", "+5", "٣", "99999999999999999999"}, []string{"limit", "1 to 100"}, []string{"1", "100"}},
	words("order", "asc", "desc"),
}

// reads are the routes that take query parameters.
func reads(s *site) map[string][]parameter {
	i, at := s.asks(askable(s), bash)
	s.call(s.agent, "POST", at+"/cancel", "") // so that waiting for it returns at once
	state := words("state", "open", "resolved", "canceled")
	agent := strings.TrimSuffix(at, "/interactions/"+i.ID)
	sequence := func(name string) parameter {
		return parameter{name, []string{"", "-1", "1.5", "x", "1e1", " 5", "+5", "٣", "9223372036854775808"}, []string{name, "whole number"}, []string{"0", "1", "9007199254740992"}}
	}
	events := []parameter{
		sequence("after_sequence"), sequence("before_sequence"),
		{"limit", []string{"", "0", "-1", "501", "x", "+5"}, []string{"limit", "1 to 500"}, []string{"1", "500"}},
	}
	person := s.puts(201, `{"provider_user_id":"U1"}`).ID
	agentID := parameter{"agent_id", []string{"", "x", "agt_x", i.ID, strings.ToUpper(i.AgentID)}, []string{"agent_id", "agt_"}, []string{i.AgentID, "agt_" + strings.Repeat("a", 26)}}
	reason := words("cancel_reason", "superseded_by_input", "agent_canceled", "agent_archived", "tool_call_completed", "asker_canceled", "expired")
	day := moment("from")
	day.refused, day.says, day.taken = []string{"", "yesterday", "2026-02-30", "2026-01-31T12:00:00", "31.1.2026"}, []string{"from", "2026-01-31"}, append(day.taken, "2026-01-31")
	until := day
	until.name, until.says = "to", []string{"to", "2026-01-31"}
	audit := []parameter{
		words("outcome", "open", "allowed", "denied", "answered", "canceled", "expired", "policy"), words("kind", "permission", "question"),
		words("channel", "dashboard", "embed", "api", "cli", "mcp", "chat"), exact("resolved_by"), reason, agentID, day, until,
	}
	var search []parameter
	if s.searches() {
		search = []parameter{exact("q")}
	}
	return map[string][]parameter{
		"/api/v1/me":            nil,
		agent:                   nil,
		at:                      {{"wait_secs", []string{"", "-1", "56", "1.5", "x", "55s"}, []string{"wait_secs", "0 to 55"}, []string{"0", "1", "55"}}},
		agent + "/interactions": append([]parameter{state}, paging...),
		project + "/agents":     append([]parameter{words("state", "active", "archived"), exact("name"), exact("key")}, paging...),
		project + "/interactions": append([]parameter{
			state, words("kind", "permission", "question"), exact("resolved_by"), moment("created_after"), moment("created_before"),
			reason, agentID,
		}, append(search, paging...)...),
		project + "/audit":            append(append(audit, search...), paging[0]),
		project + "/audit/export":     append(append(audit, search...), words("format", "csv", "jsonl")),
		agent + "/inputs/backlog":     paging,
		agent + "/tool-calls":         append([]parameter{words("state", "awaiting_permission", "ready", "waiting", "completed")}, paging...),
		agent + "/events":             events,
		agent + "/events/stream":      {sequence("after_sequence")},
		project + "/events":           events,
		project + "/events/stream":    {sequence("after_sequence")},
		project + "/actors":           paging,
		project + "/actors/" + person: nil,
	}
}

// TestQueries goes through the query parameters of every route: what is unknown, repeated, malformed or out of range is refused by name.
func TestQueries(t *testing.T) {
	s := newSite(t)
	for path, parameters := range reads(s) {
		refuse := func(query string, says ...string) {
			t.Helper()
			before := s.writes()
			s.refused(t, path+"?"+query, s.call(s.operator, "GET", path+"?"+query, ""), before, says...)
		}
		refuse("bogus=1", "bogus", "unknown query parameter")
		refuse("bogus", "bogus", "unknown query parameter")
		refuse("LIMIT=1", "LIMIT", "unknown query parameter")
		refuse("%ff=1", "unknown query parameter")
		refuse("%zz=1", "query")
		refuse("limit=1;state=open", "query")
		refuse(strings.Repeat("b", 10_000)+"=1", "unknown query parameter")
		for _, p := range parameters {
			for _, value := range p.refused {
				refuse(p.name+"="+url.QueryEscape(value), p.says...)
			}
			good := p.name + "=" + url.QueryEscape(p.taken[0])
			refuse(good+"&"+good, p.name, "twice")
			for _, value := range p.taken {
				if got := s.call(s.operator, "GET", path+"?"+p.name+"="+url.QueryEscape(value), ""); got.status != http.StatusOK {
					t.Errorf("%s?%s=%s: %d %s", path, p.name, value, got.status, got.body)
				}
			}
		}
	}
}

// TestCursors checks that only cursors which we gave are taken.
func TestCursors(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("one")
	s.newAgent("two")
	for range 2 {
		s.asks(path, bash)
		s.sends(path, hello)
	}
	s.puts(201, `{"provider_user_id":"U1"}`)
	s.puts(201, `{"provider_user_id":"U2"}`)
	for _, list := range []string{
		project + "/agents", project + "/interactions", project + "/actors", path + "/interactions", path + "/tool-calls", path + "/inputs/backlog",
	} {
		first := page[api.Agent](t, s.call(s.operator, "GET", list+"?limit=1", ""))
		good := *first.NextCursor
		plain, err := base64.RawURLEncoding.DecodeString(good)
		must(t, err)
		encoded := base64.RawURLEncoding.EncodeToString
		for name, bad := range map[string]string{
			"nothing": "", "a word": "x", "not base64": "****", "padded": good + "=", "cut": good[:len(good)-2], "longer": good + "aa", "twice": good + good,
			"no time": encoded([]byte(strings.SplitN(string(plain), ".", 2)[1])), "no id": encoded([]byte(strings.SplitN(string(plain), ".", 2)[0] + ".")),
			"another time": encoded([]byte("!!" + string(plain))), "an id": first.Data[0].ID, "another alphabet": base64.StdEncoding.EncodeToString(plain) + "+/",
		} {
			got := s.call(s.operator, "GET", list+"?cursor="+url.QueryEscape(bad), "")
			if got.status != http.StatusBadRequest || got.code() != "invalid_request" || !strings.Contains(got.message(), "cursor") {
				t.Errorf("%s, %s: %d %s, want invalid_request", list, name, got.status, got.body)
			}
		}
		if got := s.call(s.operator, "GET", list+"?cursor="+good+"&cursor="+good, ""); got.code() != "validation_failed" {
			t.Errorf("%s, twice: %d %s", list, got.status, got.body)
		}
		if second := page[api.Agent](t, s.call(s.operator, "GET", list+"?cursor="+good, "")); len(second.Data) != 1 || second.Data[0].ID == first.Data[0].ID || second.NextCursor != nil {
			t.Errorf("%s: after %v came %v", list, first, second)
		}
	}
}
