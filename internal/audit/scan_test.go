package audit

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestDecode holds the reader against the general one.
func TestDecode(t *testing.T) {
	for _, e := range entries {
		canonical, err := e.canonical()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decode(canonical); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s\nis read as %+v (%v)", canonical, got, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, text := range []string{
		``, `{`, `}`, `{}}`, `[]`, `{"action":}`, `{"action"}`, `{"action":"a"`, `{"action":"a}`, `{"action":"a\"}`, `{"action":"a",}x`, `{"action":1}`,
		`{"action":"a","action":"b"}`, `{"at":"a","action":"b"}`, `{"sequence":"1"}`, `{"actor":"a"}`, `{"actor":{"name":"a","kind":"b"}}`,
		`{"action":"a" }`, ` {"action":"a"}`, `{"action":"a"]`, `{"action":"\x"}`, `{"a":[}`, `{"a":1]}`,
	} {
		if e, err := decode([]byte(text)); err == nil {
			t.Errorf("%s was read as %+v", text, e)
		}
	}
}

func TestMembers(t *testing.T) {
	record := `{"id":"a","call":{"wait_mode":"no","x":["}",{"id":"\"}"}]},"wait_mode":"b\u2028\\","n":[1,2],"last":true}`
	said, err := members([]byte(record), []Fact{{Name: "wait_mode"}, {Name: "id"}, {Name: "gone"}})
	if err != nil || said != [factsMost]string{"b\u2028\\", "a"} {
		t.Errorf("%q, %v", said, err)
	}
}

// FuzzDecode checks that what is read at all is read as the general reader does, and that nothing panics.
func FuzzDecode(f *testing.F) {
	for _, e := range entries {
		if canonical, err := e.canonical(); err == nil {
			f.Add(string(canonical))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := decode([]byte(text))
		var want Entry
		if err != nil || json.Unmarshal([]byte(text), &want) != nil || strings.Contains(text, "null") {
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nis read as %+v\nin place of %+v", text, got, want)
		}
	})
}
