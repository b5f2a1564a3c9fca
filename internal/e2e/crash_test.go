package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/internal/api"
	"sayso/internal/interaction"
	"sayso/internal/store"
)

const (
	crashes = 20
	writers = 4
)

// A server that is killed while it answers loses nothing that it acknowledged, and leaves nothing half-written.
func TestKill(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	kept, seen := &acknowledged{}, acknowledged{}
	for n := range crashes {
		victim := startVictim(t, data)
		moment := time.Duration(random.IntN(5000)) * time.Microsecond
		kept.after(1+random.IntN(60), func() { time.AfterFunc(moment, victim.kill) })
		load := victim.writes(t, kept)
		load.Wait()
		victim.bury(t)
		checkAfterCrash(t, n, data, kept.since(&seen))
	}
	checkAfterCrash(t, crashes-1, data, kept)
	t.Logf("%d answers were acknowledged, and %d requests", len(kept.answers), len(kept.requests))
}

// acknowledged is what the server said it had recorded.
type acknowledged struct {
	mu       sync.Mutex
	requests []string
	answers  []acknowledgedAnswer

	enough   int // answers, and then
	onEnough func()
}

type acknowledgedAnswer struct{ id, text, input string }

// after has do called when n more answers were acknowledged.
func (k *acknowledged) after(n int, do func()) {
	k.enough, k.onEnough = len(k.answers)+n, do
}

// since is what came after seen, which then is all.
func (k *acknowledged) since(seen *acknowledged) *acknowledged {
	fresh := &acknowledged{requests: k.requests[len(seen.requests):], answers: k.answers[len(seen.answers):]}
	seen.requests, seen.answers = k.requests, k.answers
	return fresh
}

func (k *acknowledged) request(i api.Interaction) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.requests = append(k.requests, i.ID)
}

func (k *acknowledged) answer(i api.Interaction, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answers = append(k.answers, acknowledgedAnswer{i.ID, text, i.ResolvedByInputID})
	if len(k.answers) == k.enough {
		k.onEnough()
	}
}

// victim is a server in a process of its own.
type victim struct {
	cmd  *exec.Cmd
	data string
	once sync.Once
}

func startVictim(t *testing.T, data string) *victim {
	t.Helper()
	v := &victim{cmd: exec.Command(os.Args[0]), data: data}
	v.cmd.Env = append(os.Environ(), serveData+"="+data)
	printed := &line{found: make(chan string, 1)}
	var logged strings.Builder
	v.cmd.Stdout, v.cmd.Stderr = printed, &logged
	must(t, v.cmd.Start())
	t.Cleanup(v.kill)
	select {
	case <-printed.found:
	case <-time.After(30 * time.Second):
		v.kill()
		_ = v.cmd.Wait()
		t.Fatalf("the server was not ready within 30 s: %s", logged.String())
	}
	return v
}

func (v *victim) kill() {
	v.once.Do(func() { _ = v.cmd.Process.Kill() })
}

// bury waits until the process is gone.
func (v *victim) bury(t *testing.T) {
	t.Helper()
	if err := v.cmd.Wait(); v.cmd.ProcessState.Exited() {
		t.Fatalf("the server ended by itself: %v", err)
	}
}

// writes has several people answer what several agents ask, until the server is gone.
func (v *victim) writes(t *testing.T, kept *acknowledged) *sync.WaitGroup {
	t.Helper()
	url := address(t, v.data)
	transport := &http.Transport{MaxIdleConnsPerHost: 2 * writers}
	t.Cleanup(transport.CloseIdleConnections)
	asking := &api.Client{URL: url, Key: keyIn(t, v.data, "agent.key"), HTTP: &http.Client{Transport: transport}}
	ruling := &api.Client{URL: url, Key: keyIn(t, v.data, "operator.key"), HTTP: &http.Client{Transport: transport}}
	var load sync.WaitGroup
	for n := range writers {
		load.Go(func() {
			err := write(t.Context(), asking, ruling, n, kept)
			if err != nil && !api.Unreachable(err) {
				t.Errorf("writer %d: %v", n, err)
			}
		})
	}
	return &load
}

func write(ctx context.Context, asking, ruling *api.Client, n int, kept *acknowledged) error {
	agent, err := asking.CreateAgent(ctx, api.NewAgent{Name: fmt.Sprintf("writer %d", n)})
	if err != nil {
		return err
	}
	for round := 0; ; round++ {
		i, err := asking.CreateInteraction(ctx, agent.ID, "", running(fmt.Sprintf("step %d", round)))
		if err != nil {
			return err
		}
		kept.request(i)
		text := fmt.Sprintf("no %d to writer %d", round, n)
		i, err = ruling.Resolve(ctx, agent.ID, i.ID, api.Resolve{Answers: []api.Answer{{OptionIndices: []int{1}, Text: text}}})
		if err != nil {
			return err
		}
		kept.answer(i, text)
	}
}

// checkAfterCrash opens what the dead server left.
func checkAfterCrash(t *testing.T, n int, data string, kept *acknowledged) {
	t.Helper()
	s, err := store.Open(t.Context(), data, store.Options{})
	if err != nil {
		t.Fatalf("after crash %d the data cannot be opened: %v", n+1, err)
	}
	defer undisturbed(func() { s.Close() })
	project, err := s.Project(t.Context(), "default", "default")
	must(t, err)
	if _, err := s.Verify(t.Context(), project.ID); err != nil {
		t.Fatalf("after crash %d: %v", n+1, err)
	}
	for _, a := range kept.answers {
		if err := stillThere(t.Context(), s, a); err != nil {
			t.Errorf("after crash %d: the answer to %s: %v", n+1, a.id, err)
		}
	}
	for _, id := range kept.requests {
		if _, err := s.Interaction(t.Context(), interaction.ID(id)); err != nil {
			t.Errorf("after crash %d: the request %s: %v", n+1, id, err)
		}
	}
	nothingHalfWritten(t, n, data)
}

func stillThere(ctx context.Context, s *store.Store, a acknowledgedAnswer) error {
	r, err := s.Interaction(ctx, interaction.ID(a.id))
	if err != nil {
		return err
	}
	i, err := r.Interaction()
	if err != nil {
		return err
	}
	if i.End == nil || i.End.Answers[0].Text != a.text || string(i.End.InputID) != a.input {
		return fmt.Errorf("is not what was acknowledged: %+v", i.End)
	}
	events, err := s.History(ctx, i.ID)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Kind == interaction.AgentInputEvent && e.InputID == i.End.InputID {
			return nil
		}
	}
	return errors.New("has no event")
}

// halves are queries for what may only be there together. Each finds what is there alone.
var halves = map[string]string{
	"an ended interaction without its end":          `SELECT i.id FROM interactions i LEFT JOIN ends e ON e.interaction = i.key WHERE (i.state <> 'open') <> (e.interaction IS NOT NULL)`,
	"an answer without its input, or the reverse":   `SELECT i.id FROM interactions i LEFT JOIN inputs n ON n.interaction = i.key WHERE (i.state = 'resolved') <> (n.key IS NOT NULL)`,
	"an input without its event":                    `SELECT n.id FROM inputs n WHERE (SELECT count(*) FROM events v WHERE v.input_id = n.id AND v.kind = 'agent_input' AND v.interaction = n.interaction) <> 1`,
	"an answer without its lifecycle event":         `SELECT i.id FROM interactions i WHERE (SELECT count(*) FROM events v WHERE v.interaction = i.key AND v.kind = 'interaction_answered') <> (i.state = 'resolved')`,
	"a request without its lifecycle event":         `SELECT i.id FROM interactions i WHERE (SELECT count(*) FROM events v WHERE v.interaction = i.key AND v.kind = 'interaction_created') <> 1`,
	"a lifecycle event without its audit entry":     `SELECT v.id FROM events v WHERE v.kind LIKE 'interaction\_%' ESCAPE '\' AND v.sequence NOT IN (SELECT sequence FROM audit_entries)`,
	"a request without its tool call":               `SELECT i.id FROM interactions i LEFT JOIN tool_calls c ON c.interaction = i.key WHERE i.kind = 'permission' AND c.key IS NULL`,
	"a denied tool call that is not told so":        `SELECT c.id FROM tool_calls c JOIN interactions i ON i.key = c.interaction WHERE (i.state = 'open') <> (c.state = 'awaiting_permission')`,
	"a request without what was asked":              `SELECT i.id FROM interactions i LEFT JOIN requests r ON r.interaction = i.key WHERE r.interaction IS NULL`,
	"a row that refers to nothing":                  `SELECT "table" FROM pragma_foreign_key_check`,
	"a page of the file that is not what it was":    `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
	"a sequence that is used twice, or from beyond": `SELECT v.id FROM events v JOIN projects p ON p.key = v.project WHERE v.sequence > p.sequence`,
}

func nothingHalfWritten(t *testing.T, n int, data string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(data, "sayso.db")+"?mode=ro&_busy_timeout=5000")
	must(t, err)
	defer db.Close()
	for what, query := range halves {
		if found := column(t, db, query); len(found) > 0 {
			t.Errorf("after crash %d there is %s: %v", n+1, what, found)
		}
	}
}
