package interaction

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"
)

// ID is a public id: a prefix that says what it names, and 26 characters of a-z and 2-7, which are a UUIDv7.
type ID string

// The prefixes of ids.
const (
	OrgPrefix         = "org"
	ProjectPrefix     = "proj"
	UserPrefix        = "usr"
	AgentPrefix       = "agt"
	InteractionPrefix = "int"
	InputPrefix       = "ain"
	EventPrefix       = "evt"
	ToolCallPrefix    = "tcl"
	ActorPrefix       = "actr"
	KeyPrefix         = "key"
	SessionPrefix     = "ses"
	InvitationPrefix  = "inv"
)

const idLetters = "abcdefghijklmnopqrstuvwxyz234567"

var idEncoding = base32.NewEncoding(idLetters).WithPadding(base32.NoPadding)

// NewID makes an id whose first 48 bits are the milliseconds of now.
func NewID(prefix string, now time.Time) ID {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:]) // never fails: crypto/rand ends the program instead
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return ID(prefix + "_" + idEncoding.EncodeToString(b[:]))
}

// WellFormed says whether id has the given prefix and the form of an id. Whether it names anything is another matter.
func (id ID) WellFormed(prefix string) bool {
	rest, ok := strings.CutPrefix(string(id), prefix+"_")
	return ok && len(rest) == 26 && strings.Trim(rest, idLetters) == ""
}
