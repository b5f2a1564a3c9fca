package store

import (
	"database/sql"
	"sync"

	"sayso/internal/interaction"
)

// headsMost bounds the memory of heads, in bytes of what is stored of them.
const headsMost = 16 << 20

// heads keeps what open interactions ask, as they were created: a head never changes, so whoever ends one need neither read nor decode it
// again. It is let go when it has ended. What is not here is read from the database, which is as good.
type heads struct {
	mu    sync.Mutex
	byID  map[interaction.ID]head
	bytes int
}

// head is an interaction as it was created.
type head struct {
	at     place
	record interaction.Record
	asked  interaction.Interaction
}

func (h *heads) of(id interaction.ID) (head, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one, ok := h.byID[id]
	return one, ok
}

// keep makes room by letting any others go.
func (h *heads) keep(one head) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byID == nil {
		h.byID = map[interaction.ID]head{}
	}
	h.byID[one.record.ID] = one
	h.bytes += len(one.record.Head)
	for id := range h.byID {
		if h.bytes <= headsMost {
			break
		}
		h.forget(id)
	}
}

func (h *heads) drop(id interaction.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(id)
}

// forget needs the lock.
func (h *heads) forget(id interaction.ID) {
	h.bytes -= len(h.byID[id].record.Head)
	delete(h.byID, id)
}

// find reads one interaction inside the transaction. Of an open one that is kept, only what may have changed is read.
func (t *tx) find(s *Store, id interaction.ID) (place, interaction.Record, interaction.Interaction, error) {
	if h, ok := s.heads.of(id); ok {
		if open, err := t.refresh(&h); open || err != nil {
			return h.at, h.record, h.asked, err
		}
	}
	at, r, err := t.locate(s, id)
	if err != nil {
		return at, r, interaction.Interaction{}, err
	}
	i, err := r.Interaction()
	return at, r, i, err
}

// refresh brings a kept interaction up to date, if it is open still.
func (t *tx) refresh(h *head) (open bool, err error) {
	const q = "SELECT i.state, " + deliveryColumns + " FROM interactions i LEFT JOIN deliveries d ON d.interaction = i.key WHERE i.id = +?"
	var d delivery
	var state interaction.State
	err = t.row(q, []any{h.record.ID}, append([]any{&state}, d.into()...)...)
	h.record.Delivery = d.delivery()
	h.record.Version = max(h.record.Version, d.sequence.Int64)
	h.asked.Delivery, h.asked.Version = h.record.Delivery, h.record.Version
	return state == interaction.Open, err
}

const deliveryColumns = "d.gone_since, d.picked_up_at, d.reported_at, d.outcome, d.sequence"

// delivery is a row of deliveryColumns; there may be none.
type delivery struct {
	gone, picked, reported, sequence sql.NullInt64
	outcome                          sql.NullString
}

func (d *delivery) into() []any {
	return []any{&d.gone, &d.picked, &d.reported, &d.outcome, &d.sequence}
}

func (d *delivery) delivery() interaction.Delivery {
	return interaction.Delivery{
		AskerGoneSince: fromNull(d.gone), PickedUpAt: fromNull(d.picked), ReportedAt: fromNull(d.reported),
		Outcome: interaction.ToolCallOutcome(d.outcome.String),
	}
}
