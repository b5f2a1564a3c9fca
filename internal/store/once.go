package store

import (
	"bytes"
	"time"

	"sayso/internal/interaction"
)

// already gives what a create with this key made before; "" if it is new. The key with another request is a conflict.
func (t *tx) already(once interaction.Once) (interaction.ID, error) {
	if once.Key == "" {
		return "", nil
	}
	var request []byte
	var resource interaction.ID
	err := t.row("SELECT request, resource FROM idempotency WHERE caller = ? AND name = ?", []any{once.Caller, once.Key}, &request, &resource)
	if interaction.CodeOf(err) == interaction.NotFound {
		return "", nil
	}
	if err == nil && !bytes.Equal(request, once.Request[:]) {
		return "", interaction.Errorf(interaction.IdempotencyKey, "Idempotency-Key: it was used for another request; take a new one.")
	}
	return resource, err
}

func (t *tx) remember(once interaction.Once, resource interaction.ID, now time.Time) error {
	if once.Key == "" {
		return nil
	}
	return t.run("INSERT INTO idempotency (caller, name, request, resource, created_at) VALUES (?, ?, ?, ?, ?)",
		once.Caller, once.Key, once.Request[:], resource, ms(now))
}
