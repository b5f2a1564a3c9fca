package agents

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Note is what a hook remembers of a request for the hooks that come after it: whoever is told that a tool has run closes its card, or says on it
// what came of it. An asker's key cannot look for them on the server.
type Note struct {
	Tool        string `json:"tool"`
	Input       string `json:"input"` // its digest
	Call        string `json:"call,omitempty"`
	Agent       string `json:"agent,omitempty"`       // its id
	Interaction string `json:"interaction,omitempty"` // "": it is being made
	ToolCall    string `json:"tool_call,omitempty"`   // "": a question
	Allowed     bool   `json:"allowed,omitempty"`     // and not run yet, as far as is known
}

// about says whether the note is of the call that h tells of. A PermissionRequest does not name its call, so the input decides.
func (n Note) about(h Hook) bool {
	if n.Tool != h.Tool || n.Call != "" && h.CallID != "" && n.Call != h.CallID {
		return false
	}
	return n.Call != "" && n.Call == h.CallID || n.Input == inputDigest(h.Input)
}

// inputDigest is the same for inputs that mean the same.
func inputDigest(input json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) == nil {
		input = encode(v) // with the members in order
	}
	sum := sha256.Sum256(input)
	return hex.EncodeToString(sum[:16])
}

// Notes keep notes by session. A note is taken by one, whoever comes first.
type Notes interface {
	Add(session string, n Note) (id string) // "": it could not be kept
	// Change says whether the note was still there.
	Change(session, id string, n Note) bool
	Drop(session, id string)
	// Take removes notes, oldest first: all that match, or the first.
	Take(session string, all bool, match func(Note) bool) []Note
}

// noteID sorts by time.
func noteID() string {
	return time.Now().UTC().Format("20060102T150405.000000000") + "-" + rand.Text()[:8]
}

// MemoryNotes keep notes as long as the process lives. The zero value is ready to be used.
type MemoryNotes struct {
	mu       sync.Mutex
	sessions map[string][]kept
	count    int
}

type kept struct {
	id   string
	note Note
}

const notesMost = 10_000 // in memory

// Add keeps a note.
func (m *MemoryNotes) Add(session string, n Note) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions == nil || m.count >= notesMost { // those that nobody takes are of sessions that are gone
		m.sessions, m.count = map[string][]kept{}, 0
	}
	id := noteID()
	m.sessions[session] = append(m.sessions[session], kept{id, n})
	m.count++
	return id
}

// Change writes a note anew.
func (m *MemoryNotes) Change(session, id string, n Note) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.IndexFunc(m.sessions[session], func(k kept) bool { return k.id == id })
	if at >= 0 {
		m.sessions[session][at].note = n
	}
	return at >= 0
}

// Drop removes a note.
func (m *MemoryNotes) Drop(session, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(session, func(k kept) bool { return k.id == id })
}

// remove removes the notes that match. The mutex is held.
func (m *MemoryNotes) remove(session string, match func(kept) bool) {
	before := len(m.sessions[session])
	left := slices.DeleteFunc(m.sessions[session], match)
	m.count -= before - len(left)
	if len(left) > 0 {
		m.sessions[session] = left
	} else {
		delete(m.sessions, session)
	}
}

// Take removes notes.
func (m *MemoryNotes) Take(session string, all bool, match func(Note) bool) (taken []Note) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(session, func(k kept) bool {
		if !all && len(taken) > 0 || !match(k.note) {
			return false
		}
		taken = append(taken, k.note)
		return true
	})
	return taken
}

// FolderNotes keep notes in files, since each call of a command hook is a process of its own. A folder that cannot be written keeps none.
type FolderNotes string

func (f FolderNotes) session(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(string(f), hex.EncodeToString(sum[:16]))
}

// Add keeps a note.
func (f FolderNotes) Add(session string, n Note) string {
	id := noteID()
	path := filepath.Join(f.session(session), id)
	if os.MkdirAll(f.session(session), 0o700) != nil || os.WriteFile(path, encode(n), 0o600) != nil || os.Rename(path, path+".json") != nil {
		return ""
	}
	return id + ".json"
}

// Change writes a note anew. Whoever takes it renames it first and reads it then, so that one of the two always knows of the other.
func (f FolderNotes) Change(session, id string, n Note) bool {
	if id == "" {
		return true
	}
	path := filepath.Join(f.session(session), id)
	file, err := os.OpenFile(path, os.O_WRONLY, 0o600) // a note only grows, so it is whole at any time
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, _ = file.Write(encode(n))
	_ = file.Close()
	_, err = os.Stat(path)
	return err == nil
}

// Drop removes a note.
func (f FolderNotes) Drop(session, id string) {
	if id != "" {
		_ = os.Remove(filepath.Join(f.session(session), id))
		_ = os.Remove(f.session(session)) // if it is empty
	}
}

// Take removes notes.
func (f FolderNotes) Take(session string, all bool, match func(Note) bool) (taken []Note) {
	entries, _ := os.ReadDir(f.session(session)) // sorted by name
	for _, e := range entries {
		path := filepath.Join(f.session(session), e.Name())
		if n, ok := readNote(path); !strings.HasSuffix(path, ".json") || !ok || !match(n) {
			continue
		}
		mine := path + "." + rand.Text()[:8]
		if os.Rename(path, mine) != nil {
			continue // somebody else took it
		}
		n, ok := readNote(mine)
		_ = os.Remove(mine)
		if ok {
			taken = append(taken, n)
		}
		if ok && !all {
			break
		}
	}
	_ = os.Remove(f.session(session)) // if it is empty
	return taken
}

func readNote(path string) (n Note, ok bool) {
	text, err := os.ReadFile(path)
	return n, err == nil && json.Unmarshal(text, &n) == nil
}
