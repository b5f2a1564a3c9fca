package store

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// headsIn is the second file of a folder, read.
func headsIn(t testing.TB, folder string) (list []audit.Head) {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, audit.HeadsFile))
	must(t, err)
	defer f.Close()
	r := audit.NewHeadReader(f)
	for {
		h, err := r.Next()
		if err != nil {
			return list
		}
		list = append(list, h)
	}
}

// TestHeadsAreRecorded checks when: after a hundred entries, after a minute, at the stop; and never twice.
func TestHeadsAreRecorded(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(context.Background(), folder, Options{})
		must(t, err)
		agent := newAgent(t, s)
		asked(t, s, agent, interaction.Ask{})
		wait := func(d time.Duration) []audit.Head {
			<-time.After(d)
			synctest.Wait()
			return headsIn(t, folder)
		}
		if list := wait(30 * time.Second); len(list) != 1 || list[0].Kind != audit.Begun || list[0].InUse {
			t.Errorf("after half a minute: %+v", list)
		}
		if list := wait(31 * time.Second); len(list) != 2 || list[1].Entries != 1 {
			t.Errorf("after a minute: %+v", list)
		}
		if list := wait(5 * time.Minute); len(list) != 2 {
			t.Errorf("without entries since: %+v", list)
		}
		for range 250 {
			decide(t, s, agent, interaction.RuleDeny, "*")
		}
		list := wait(2 * time.Second)
		if len(list) != 4 || list[2].Entries != 101 || list[3].Entries != 201 {
			t.Errorf("after 250 more: %+v", list)
		}
		must(t, s.Close())
		list = headsIn(t, folder)
		if len(list) != 5 || list[4].Entries != 251 {
			t.Errorf("at the stop: %+v", list)
		}
	})
	for range 2 {
		must(t, open(t, folder).Close())
	}
	if list := headsIn(t, folder); len(list) != 5 {
		t.Errorf("after two starts without entries: %d lines", len(list))
	}
	info, err := os.Stat(filepath.Join(folder, audit.HeadsFile))
	if must(t, err); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// TestHeadsAfterAKill checks that what was not recorded is, at the next start.
func TestHeadsAfterAKill(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	agent := newAgent(t, s)
	for range 3 {
		decide(t, s, agent, interaction.RuleDeny, "*")
	}
	killed := copied(t, folder)
	for range 2 {
		if r := report(t, killed); !r.OK || r.Entries != 3 || len(r.Notes) > 0 {
			t.Errorf("%+v, %v", r, r.Finding)
		}
		must(t, open(t, killed).Close())
	}
	if list := headsIn(t, killed); len(list) != 2 || list[1].Entries != 3 {
		t.Errorf("recorded: %+v", list)
	}
}

// TestHeadsFileTakenAway checks that the server begins it anew, and that this is told ever after.
func TestHeadsFileTakenAway(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	agent := newAgent(t, s)
	decide(t, s, agent, interaction.RuleDeny, "*")
	must(t, os.Remove(filepath.Join(folder, audit.HeadsFile)))
	must(t, s.Close())
	remarks(t, folder, "was begun on")
	must(t, os.Remove(filepath.Join(folder, audit.HeadsFile)))
	finds(t, folder, 0, "is not there")
	must(t, open(t, folder).Close())
	remarks(t, folder, "was begun on")
}

// TestHeadsFileCutWhileServing checks that lines that are taken off the end are missed when the server writes the next.
func TestHeadsFileCutWhileServing(t *testing.T) {
	folder := history(t)
	s := open(t, folder)
	decide(t, s, newAgent(t, s), interaction.RuleDeny, "*")
	path := filepath.Join(folder, audit.HeadsFile)
	text, err := os.ReadFile(path)
	must(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	must(t, os.WriteFile(path, []byte(first+"\n"), 0o600))
	must(t, s.Close())
	finds(t, folder, 0, "line 2 does not follow")
}
