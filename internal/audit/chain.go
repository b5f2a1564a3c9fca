package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
)

// Chain verifies entries one after another, in order.
type Chain struct {
	Head Hash
	N    int // entries verified
}

// Append checks that the stored entry is what its hash says and follows the one before, and gives it decoded. Its error says what is wrong with
// the entry, and leaves it to the caller to say which it is.
func (c *Chain) Append(canonical, hash []byte) (e Entry, err error) {
	if e, err = decode(canonical); err != nil {
		return e, fmt.Errorf("cannot be read: %w", err)
	}
	return e, c.follow(e, canonical, hash)
}

func (c *Chain) follow(e Entry, canonical, hash []byte) error {
	sum := Hash(sha256.Sum256(canonical))
	if string(hash) != string(sum[:]) {
		return errors.New("is not what its hash says: it was changed after it was written")
	}
	if e.Previous != c.Head.String() {
		return errors.New("does not follow the entry before it: one was changed, removed or put between them")
	}
	c.Head = sum
	c.N++
	return nil
}
