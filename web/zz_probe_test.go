package web_test

import (
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	show := func(what string, a answer) {
		b := string(a.body)
		if len(b) > 300 {
			b = b[:300]
		}
		t.Logf("%s: %d %s %v", what, a.status, b, a.header)
	}
	show("options", s.call("", "OPTIONS", path, ""))
	show("head", s.call(s.operator, "HEAD", path, ""))
	show("bad query", s.call(s.operator, "GET", path+"/interactions?%zz=1", ""))
	show("semi", s.call(s.operator, "GET", path+"/interactions?limit=1;state=open", ""))
	show("ff", s.call(s.operator, "GET", path+"/interactions?%ff=1", ""))
	show("bare", s.call("", "GET", "/api/v1/me", "", "Authorization", s.operator))
	show("post query", s.call(s.operator, "POST", project+"/agents?x=1", `{"name":"b"}`))
	show("dupctx", s.call(s.operator, "POST", project+"/agents", `{"name":"b","name":"c"}`))
	show("case", s.call(s.operator, "POST", project+"/agents", `{"Name":"b"}`))
	show("lone", s.call(s.operator, "POST", project+"/agents", `{"name":"\ud800"}`))
	show("badutf", s.call(s.operator, "POST", project+"/agents", "{\"name\":\"\xff\"}"))
	show("deep", s.call(s.operator, "POST", path+"/interactions", `{"tool_call":{"name":"x","input":`+strings.Repeat(`{"a":`, 1000)+"1"+strings.Repeat("}", 1000)+`}}`))
	show("deep2", s.call(s.agent, "POST", path+"/interactions", `{"tool_call":{"name":"x"},"suggestions":[{"a":`+strings.Repeat(`[`, 1000)+strings.Repeat("]", 1000)+`}]}`))
	show("dup in input", s.call(s.operator, "POST", path+"/interactions", `{"tool_call":{"name":"x","input":{"a":1,"a":2}}}`))
	show("lone in input", s.call(s.operator, "POST", path+"/interactions", `{"tool_call":{"name":"x","input":{"a":"\ud800"}}}`))
	show("nan", s.call(s.operator, "POST", path+"/interactions", `{"tool_call":{"name":"x","input":{"a":NaN}}}`))
	show("bom", s.call(s.operator, "POST", project+"/agents", "\ufeff{\"name\":\"x\"}"))
	show("trail", s.call(s.operator, "POST", project+"/agents", "{\"name\":\"x\"} {}"))
	show("null", s.call(s.operator, "POST", project+"/agents", "null"))
	show("array", s.call(s.operator, "POST", project+"/agents", "[]"))
	show("string", s.call(s.operator, "POST", project+"/agents", `"x"`))
	show("meta", s.call(s.operator, "POST", project+"/agents", `{"name":"x","metadata":{"a":1}}`))
	show("input string", s.call(s.operator, "POST", path+"/interactions", `{"tool_call":{"name":"x","input":"a"}}`))
	show("frac", s.call(s.operator, "POST", path+"/interactions", `{"tool_call":{"name":"x"},"timeout_secs":1.5}`))
	show("big", s.call(s.operator, "POST", path+"/interactions", `{"tool_call":{"name":"x"},"timeout_secs":99999999999999999999}`))
	show("empty body", s.call(s.operator, "POST", project+"/agents", "", "Content-Type", "application/json"))
	show("unk long", s.call(s.operator, "POST", project+"/agents", `{"`+strings.Repeat("k", 500)+`":1}`))
	show("slashpath", s.call(s.operator, "GET", project+"/agents/a%2Fb", ""))
	show("nulpath", s.call(s.operator, "GET", project+"/agents/%00", ""))
	show("ffpath", s.call(s.operator, "GET", project+"/agents/%ff", ""))
	show("unknown", s.call("", "GET", "/api/v1/nothing", ""))
	show("method", s.call("", "DELETE", path, ""))
	show("trace", s.call("", "TRACE", path, ""))
	show("health post", s.call("", "POST", "/healthz", "{}"))
}
