package store

import (
	"database/sql"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"sayso/internal/interaction"
)

// TestConversationPlans asserts that what a conversation reads is found by an index that was made for it: nothing is scanned, and what may be
// long is not sorted.
func TestConversationPlans(t *testing.T) {
	s := open(t, t.TempDir())
	agent := newAgent(t, s)
	conversation := interaction.EventFilter{Agent: agent.ID, Kinds: interaction.ConversationEvents, Limit: 100}
	lifecycle := interaction.EventFilter{Project: agent.ProjectID, Kinds: interaction.LifecycleEvents, Limit: 100}
	after, before, last := conversation, conversation, lifecycle
	after.After, before.Before, last.Before = 7, 7, math.MaxInt64
	type read struct{ text, index string }
	reads := map[string]read{
		"what waits, in a change":    {waitingInputs, "inputs_waiting"},
		"what waits":                 {waitingOf, "inputs_waiting"},
		"one input":                  {inputColumns + "WHERE n.id = +?", "sqlite_autoindex_inputs"},
		"one input of an agent":      {inputColumns + "WHERE n.id = +? AND n.agent = +?", "sqlite_autoindex_inputs"},
		"what is unfinished":         {unfinishedCalls, "tool_calls_unfinished"},
		"what was asked elsewhere":   {askedAs, "asks_same"},
		"one call":                   {callColumns + "WHERE c.id = +?", "sqlite_autoindex_tool_calls"},
		"one actor":                  {actorColumns + "WHERE x.id = +?", "sqlite_autoindex_actors"},
		"a known person":             {"SELECT id FROM actors WHERE project = ? AND tenant = ? AND user = ?", "sqlite_autoindex_actors"},
		"what is open of an agent":   {"SELECT count(*) FROM interactions WHERE agent = ? AND state = 'open' AND creator = ?", "interactions_agent_open"},
		"what is open, oldest first": {openInteractions, "interactions_agent_open"},
	}
	for name, f := range map[string]interaction.EventFilter{"a conversation": conversation, "a conversation on": after, "a conversation back": before} {
		text, _ := eventQuery(f)
		reads[name] = read{text, "events_agent"}
	}
	for name, f := range map[string]interaction.EventFilter{"the lifecycle log": lifecycle, "the lifecycle log back": last} {
		text, _ := eventQuery(f)
		reads[name] = read{text, "events_sequence"}
	}
	for _, page := range []interaction.Page{{Limit: 50}, {Limit: 50, Newest: true}, {Limit: 50, After: &interaction.Cursor{At: start, ID: agent.ID}}} {
		for _, state := range append(interaction.ToolCallStates, "") {
			q := callQuery(interaction.CallFilter{Agent: agent.ID, State: state, Page: page})
			reads[fmt.Sprint("calls ", state, page)] = read{q.text(), "tool_calls_page"}
		}
		reads[fmt.Sprint("actors ", page)] = read{actorQuery(agent.ProjectID, page).text(), "actors_page"}
	}
	for name, r := range reads {
		plan := planOf(t, s, r.text)
		if !strings.Contains(plan, r.index) || strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") && name != "what is open, oldest first" {
			t.Errorf("%s: %s\nis read by %s, want it by %s", name, r.text, plan, r.index)
		}
	}
}

// planOf is how SQLite would carry out a statement.
func planOf(t *testing.T, s *Store, text string) (plan string) {
	t.Helper()
	args := make([]any, strings.Count(text, "?"))
	must(t, s.rows("EXPLAIN QUERY PLAN "+text, args, func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		plan += step + "; "
		return err
	}))
	return plan
}

// converses makes a conversation in which everything is read and written that there is.
func converses(t *testing.T, s *Store, agent interaction.Agent) {
	t.Helper()
	do := func(change func(c interaction.Conversation) (interaction.Turn, interaction.ID, error)) {
		t.Helper()
		_, _, err := s.Converse(t.Context(), agent.ID, interaction.Once{}, change)
		must(t, err)
	}
	in := interaction.Input{
		ID: interaction.NewID(interaction.InputPrefix, start), AgentID: agent.ID, Kind: interaction.ContentInput, Mode: interaction.Queued, State: interaction.InputReceived,
		Content: []interaction.ContentBlock{{Type: interaction.TextBlock, Text: "Hi."}}, By: interaction.System, Position: 1, At: start,
	}
	call := interaction.Call{
		ToolCall: interaction.ToolCall{ID: interaction.NewID(interaction.ToolCallPrefix, start), Name: "ls", Input: []byte(`{ "a" : 1.10 }`)},
		AgentID:  agent.ID, Creator: "key_asker", State: interaction.ToolCallReady, CreatedAt: start,
	}
	do(func(c interaction.Conversation) (interaction.Turn, interaction.ID, error) {
		_, err := c.Actor(&interaction.External{ProviderUserID: "U1"}, start)
		return interaction.Turn{in, call, interaction.Event{ID: interaction.NewID(interaction.EventPrefix, start), Kind: interaction.AgentInputEvent, InputID: in.ID, At: start, Body: "{}"}}, "", err
	})
	do(func(c interaction.Conversation) (interaction.Turn, interaction.ID, error) {
		waiting, err := c.Waiting()
		must(t, err)
		unfinished, err := c.Unfinished()
		must(t, err)
		open, err := c.Open()
		must(t, err)
		last, err := c.Last()
		must(t, err)
		one, err := c.Input(in.ID)
		must(t, err)
		made, err := c.Call(call.ID)
		must(t, err)
		if diff := cmp.Diff([]interaction.Input{in}, waiting); diff != "" || !cmp.Equal(one, in) {
			t.Errorf("waiting (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(call, made); diff != "" {
			t.Errorf("the call (-want +got):\n%s", diff)
		}
		if at := len(unfinished) - 1; at < 0 || !cmp.Equal(unfinished[at], call) || last.InputID != in.ID {
			t.Errorf("unfinished %v, last %v", unfinished, last)
		}
		_, err = c.OpenOf("key_asker")
		return nil, "", firstOf(err, lostIn(c, open))
	})
}

// lostIn says whether an open interaction cannot be read.
func lostIn(c interaction.Conversation, open []interaction.Interaction) error {
	for _, i := range open {
		if _, err := c.Interaction(i.ID); err != nil {
			return err
		}
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestConversationOfAnother checks that a conversation knows of its own agent's things only.
func TestConversationOfAnother(t *testing.T) {
	s := open(t, t.TempDir())
	agent := newAgent(t, s)
	converses(t, s, agent)
	p, err := s.Project(t.Context(), "default", "default")
	must(t, err)
	n, err := interaction.NewAgent{Name: "other"}.Normalised()
	must(t, err)
	other, _, err := s.CreateAgent(t.Context(), p, n, interaction.Once{}, start)
	must(t, err)
	var input, call interaction.ID
	must(t, s.read.QueryRow("SELECT n.id, c.id FROM inputs n, tool_calls c").Scan(&input, &call))
	_, _, err = s.Converse(t.Context(), other.ID, interaction.Once{}, func(c interaction.Conversation) (interaction.Turn, interaction.ID, error) {
		if _, err := c.Input(input); interaction.CodeOf(err) != interaction.NotFound {
			t.Errorf("input: %v", err)
		}
		if _, err := c.Call(call); interaction.CodeOf(err) != interaction.NotFound {
			t.Errorf("call: %v", err)
		}
		waiting, err := c.Waiting()
		must(t, err)
		last, err := c.Last()
		if len(waiting) != 0 || last.Kind != "" {
			t.Errorf("waiting %v, last %v", waiting, last)
		}
		return nil, "", err
	})
	must(t, err)
}

// TestTurnIsWholeOrNot checks that a turn which cannot be written to its end is not written at all.
func TestTurnIsWholeOrNot(t *testing.T) {
	s := open(t, t.TempDir())
	agent := newAgent(t, s)
	r := asked(t, s, agent, interaction.Ask{})
	_, _, err := resolve(s, r.ID, denial(""), person)
	must(t, err)
	ended, err := s.Interaction(t.Context(), r.ID)
	must(t, err)
	before := contents(t, s.read, nil)
	_, _, err = s.Converse(t.Context(), agent.ID, interaction.Once{Caller: "key", Key: "k"}, func(c interaction.Conversation) (interaction.Turn, interaction.ID, error) {
		_, err := c.Actor(&interaction.External{ProviderUserID: "U1"}, start)
		must(t, err)
		i, err := ended.Interaction()
		must(t, err)
		a := c.Agent()
		a.State, a.ArchivedAt = interaction.AgentArchived, start
		return interaction.Turn{a, interaction.Change{After: i, Lifecycle: interaction.CanceledEvent}}, "ain_x", nil
	})
	if err == nil {
		t.Error("an interaction ended twice")
	}
	if diff := cmp.Diff(before, contents(t, s.read, nil)); diff != "" {
		t.Errorf("something was written:\n%s", diff)
	}
	verified(t, s, agent.ProjectID, 2)
}

// contents is all that stands in the tables, by table; only those columns that columns names, if it names any.
func contents(t *testing.T, db *sql.DB, columns map[string]string) map[string][]string {
	t.Helper()
	if columns == nil {
		columns = columnsOf(t, db)
	}
	all := map[string][]string{}
	for table, names := range columns {
		rows, err := db.Query("SELECT " + names + " FROM " + table + " ORDER BY 1, 2")
		must(t, err)
		defer rows.Close()
		of, err := rows.Columns()
		must(t, err)
		for rows.Next() {
			values, into := make([]any, len(of)), make([]any, len(of))
			for n := range values {
				into[n] = &values[n]
			}
			must(t, rows.Scan(into...))
			all[table] = append(all[table], fmt.Sprintf("%q", values))
		}
		must(t, rows.Err())
	}
	return all
}

// columnsOf are the columns of every table, in a list as SQL has it.
func columnsOf(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.Query(`SELECT m.name, group_concat('"' || c.name || '"') FROM sqlite_schema m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE 'goose%' GROUP BY 1`)
	must(t, err)
	defer rows.Close()
	columns := map[string]string{}
	for rows.Next() {
		var table, names string
		must(t, rows.Scan(&table, &names))
		columns[table] = names
	}
	must(t, rows.Err())
	return columns
}

// first makes a database of the first schema in a new folder, with what the database in another holds.
func first(t *testing.T, from string) (folder string, columns map[string]string, all map[string][]string) {
	t.Helper()
	folder = t.TempDir()
	db, err := sql.Open("sqlite3", dsn(filepath.Join(folder, "sayso.db"), ""))
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	files, err := fs.Sub(migrations, "migrations")
	must(t, err)
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	must(t, err)
	_, err = p.UpTo(t.Context(), 1)
	must(t, err)
	columns = columnsOf(t, db)
	_, err = db.Exec("PRAGMA foreign_keys = off")
	must(t, err)
	_, err = db.Exec("ATTACH ? AS now", filepath.Join(from, "sayso.db"))
	must(t, err)
	for table, names := range columns {
		_, err = db.Exec(fmt.Sprintf("DELETE FROM main.%s; INSERT INTO main.%s (%s) SELECT %s FROM now.%s", table, table, names, names, table))
		must(t, err)
	}
	_, err = db.Exec("DETACH now")
	must(t, err)
	return folder, columns, contents(t, db, columns)
}

// TestMigrationKeepsEverything brings a database of the first schema forward: every value in it stays as it was, everything that it tells of is
// read as before, and its agents go on.
func TestMigrationKeepsEverything(t *testing.T) {
	present := t.TempDir()
	s := open(t, present)
	agent := newAgent(t, s)
	ids := map[interaction.State]interaction.ID{}
	for range 3 { // as of the first schema: asked, answered, canceled and expired
		ids[interaction.Open] = asked(t, s, agent, interaction.Ask{}).ID
		ids[interaction.Resolved] = asked(t, s, agent, interaction.Ask{}).ID
		answers := denial("no")
		answers.External = &interaction.External{ProviderUserID: "U1", DisplayName: "Dana"}
		operator := interaction.Principal{Kind: interaction.OperatorPrincipal, ID: "key_op", Name: "operator", Scopes: interaction.Scopes, Channel: interaction.ChannelAPI}
		_, _, err := resolve(s, ids[interaction.Resolved], answers, operator)
		must(t, err)
		ids[interaction.Canceled] = asked(t, s, agent, interaction.Ask{}).ID
		_, _, err = s.Update(t.Context(), ids[interaction.Canceled], nil, func(_ interaction.Record, i interaction.Interaction, _ interaction.ID) (interaction.Change, error) {
			return i.Cancel(interaction.Principal{Kind: interaction.AgentPrincipal, ID: "key_asker"}, start.Add(time.Second))
		})
		must(t, err)
	}
	s.MarkPickedUp(ids[interaction.Resolved], start)
	must(t, s.EndSession(t.Context(), [32]byte{}, time.Time{})) // behind it
	records := map[interaction.ID]string{}
	for _, id := range ids {
		r, err := s.Interaction(t.Context(), id)
		must(t, err)
		records[id] = string(r.AppendJSON(nil))
	}
	must(t, s.Close())
	folder, columns, before := first(t, present)
	now := open(t, folder)
	if diff := cmp.Diff(before, contents(t, now.read, columns)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if len(before["ends"]) != 6 || columnsOf(t, now.read)["inputs"] == columns["inputs"] {
		t.Errorf("the first database held %d ends, in the columns %s", len(before["ends"]), columns["inputs"])
	}
	verified(t, now, agent.ProjectID, 15)
	for id, want := range records {
		r, err := now.Interaction(t.Context(), id)
		must(t, err)
		if got := string(r.AppendJSON(nil)); got != want {
			t.Errorf("%s\nwas %s", got, want)
		}
	}
	calls, err := now.Calls(t.Context(), interaction.CallFilter{Agent: agent.ID, Page: interaction.Page{Limit: 50}})
	must(t, err)
	if len(calls) != 9 {
		t.Errorf("%d calls, want 9", len(calls))
	}
	for _, c := range calls {
		if c.Name != "Bash" || string(c.Input) != `{"command":"ls"}` || c.Creator != "key_asker" || c.InteractionID == "" {
			t.Errorf("%+v", c)
		}
	}
	log, err := now.Events(t.Context(), interaction.EventFilter{Agent: agent.ID, Kinds: interaction.ConversationEvents, Limit: 50})
	must(t, err)
	said := 0
	for _, e := range log {
		text := string(e.AppendJSON(nil))
		if e.Kind == interaction.AgentInputEvent && strings.Contains(text, `"resolution":{"answers":`) && strings.Contains(text, `"name":"Dana"`) || e.Kind == interaction.ToolResultEvent && e.Told().Content != nil {
			said++
		}
	}
	if len(log) != 9 || said != 9 {
		t.Errorf("%d events, and %d say what they should", len(log), said)
	}
	converses(t, now, agent)
}
