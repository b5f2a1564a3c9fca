package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sayso/internal/api"
	"sayso/internal/display"
)

// A small phone held upright, with the keyboard's room gone.
var smallPhone = device{name: "small phone", width: 320, height: 480, phone: true}

// However much an agent sends, all of it is on the card, the buttons stay in view, and a press is answered at once. (axe is not asked
// here: it measures every line of a text against what lies behind it, for minutes.)
func TestLargeRequests(t *testing.T) {
	t.Parallel()
	var script strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&script, "echo 'step %d of the migration' >> /var/log/migrate.log\n", n+1)
	}
	plan := tree(950)
	if len(plan) < 100_000 || !strings.Contains(plan, "9007199254740993949") {
		t.Fatalf("the plan has %d bytes, want 100,000 and numbers of 19 digits", len(plan))
	}
	line := "curl -d " + strings.Repeat("0123456789abcdef-", 200*1024/17)
	for _, c := range []struct {
		name string
		ask  api.NewInteraction
		want string // the whole value, as the agent sent it
	}{
		{"2,000 lines", running(script.String()), script.String()},
		{"a line of 200 KB", running(line), line},
		{"100 KB of nested JSON", importing(plan), indented(t, plan)},
	} {
		for _, d := range []device{smallPhone, desktop} {
			t.Run(c.name+" on a "+d.name, func(t *testing.T) {
				t.Parallel()
				p := start(t)
				swe := p.agent("swe")
				asked := swe.asks(c.ask)
				v := p.open(d, swe.page())
				v.isLive()
				v.holdsAll(asked, c.want)
				for _, button := range []string{"[data-allow]", "[data-deny]"} {
					v.expect("(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.querySelector('" + card(asked.ID, button) + "').getBoundingClientRect())")
				}
				v.fits()
				v.click(card(asked.ID, "[data-allow]"))
				v.soon(5*time.Second, shows(card(asked.ID, ".ended-word"), "Allowed"))
			})
		}
	}
}

// holdsAll compares the shown value with what the agent sent, by its hash.
func (v *page) holdsAll(i api.Interaction, want string) {
	v.t.Helper()
	shown := display.Show(want).String()
	sum := sha256.Sum256([]byte(shown))
	const hash = `(async () => {
		const bytes = new TextEncoder().encode(document.querySelector(%s).textContent)
		return [bytes.length, [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].map((b) => b.toString(16).padStart(2, '0')).join('')].join(' ')
	})()`
	got := await[string](v, fmt.Sprintf(hash, js(card(i.ID, ".evidence .item:last-child .value bdi"))))
	if want := fmt.Sprintf("%d %s", len(shown), hex.EncodeToString(sum[:])); got != want {
		v.t.Errorf("the card shows %s (bytes and SHA-256), want %s", got, want)
	}
}

// tree is JSON that nests, of n rows, with numbers that no float can hold. A row is about 110 bytes.
func tree(n int) string {
	var b strings.Builder
	b.WriteString(`{"rows":[`)
	for n := range n {
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":9007199254740993%03d,"path":"/srv/harbor/releases/2026-11-30/%05d","tags":["web",{"deep":[[%d]]}]}`, n%1000, n, n)
	}
	b.WriteString(`]}`)
	return b.String()
}

func importing(tree string) api.NewInteraction {
	return api.NewInteraction{ToolCall: &api.ToolCall{Name: "import", Input: json.RawMessage(`{"plan":` + tree + `}`)}}
}

// indented is JSON as the contract shows what is no string.
func indented(t *testing.T, tree string) string {
	t.Helper()
	var b bytes.Buffer
	must(t, json.Indent(&b, []byte(tree), "", "  "))
	return b.String()
}

// Beyond 256 KiB a card shows the beginning and says so, on the button too; all of it is one click away.
func TestLargerThanACard(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	plan := tree(3500)
	asked := swe.asks(importing(plan))
	want := indented(t, plan)
	v := p.open(desktop, swe.page())
	v.isLive()
	v.expect(shows(card(asked.ID, "[data-allow]"), "Allow (not all shown)"))
	v.expect(shows(card(asked.ID, ".show-all"), fmt.Sprintf("Show all %d lines", strings.Count(want, "\n")+1)))
	v.follow(card(asked.ID, ".show-all"))
	v.sees(has(card(asked.ID, "[data-allow]")))
	v.holdsAll(asked, want)
	v.expect("!" + shows(card(asked.ID, "[data-allow]"), "not all shown"))
	v.click(card(asked.ID, "[data-allow]"))
	v.sees(shows(card(asked.ID, ".ended-word"), "Allowed"))
}
