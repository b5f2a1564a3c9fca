package store

import (
	"context"
	"database/sql"
	"time"

	"sayso/internal/interaction"
)

// MarkPickedUp records that the asker has the answer.
func (s *Store) MarkPickedUp(id interaction.ID, at time.Time) {
	s.mark("mark picked up", id, func(_ interaction.State, d *interaction.Delivery) bool {
		if !d.PickedUpAt.IsZero() {
			return false
		}
		d.PickedUpAt = at
		return true
	})
}

// MarkAsker records since when the asker has been gone, or that it is back.
func (s *Store) MarkAsker(id interaction.ID, goneSince func() time.Time) {
	s.mark("mark asker", id, func(state interaction.State, d *interaction.Delivery) bool {
		since := goneSince()
		if state != interaction.Open || d.AskerGoneSince.Equal(since) {
			return false
		}
		d.AskerGoneSince = since
		return true
	})
}

// mark changes the delivery of an interaction, if change says that there is something to change, and tells followers.
func (s *Store) mark(what string, id interaction.ID, change func(interaction.State, *interaction.Delivery) bool) {
	s.writer.later(what, func(t *tx) error {
		at, r, err := t.locate(s, id)
		if err != nil || !change(r.State, &r.Delivery) {
			return err
		}
		return t.setDelivery(at, r)
	})
}

// setDelivery stores how far the answer got.
func (t *tx) setDelivery(at place, r interaction.Record) (err error) {
	if r.Version, err = t.next(at.project); err != nil {
		return err
	}
	d := r.Delivery
	t.tell(at, Change{Kind: interaction.DeliveryMoved, Sequence: r.Version, Record: r})
	return t.run(`INSERT INTO deliveries (interaction, gone_since, picked_up_at, reported_at, outcome, sequence) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (interaction) DO UPDATE SET gone_since = excluded.gone_since, picked_up_at = excluded.picked_up_at,
			reported_at = excluded.reported_at, outcome = excluded.outcome, sequence = excluded.sequence`,
		at.interaction, msOrNull(d.AskerGoneSince), msOrNull(d.PickedUpAt), msOrNull(d.ReportedAt), textOrNull(d.Outcome), r.Version)
}

// Due are open interactions whose deadline has passed.
func (s *Store) Due(_ context.Context, now time.Time, limit int) ([]interaction.ID, error) {
	const q = "SELECT id FROM interactions WHERE state = 'open' AND expires_at IS NOT NULL AND expires_at <= +? ORDER BY expires_at LIMIT +?"
	return s.ids(q, ms(now), limit)
}

// OnTheLine are the open interactions whose askers wait on the line.
func (s *Store) OnTheLine(context.Context) ([]interaction.ID, error) {
	const q = "SELECT id FROM interactions WHERE state = 'open' AND expires_at IS NOT NULL AND wait_mode = 'block'"
	return s.ids(q)
}

// NextDeadline is the earliest deadline of an open interaction.
func (s *Store) NextDeadline(context.Context) (time.Time, error) {
	var at sql.NullInt64
	err := s.row("SELECT min(expires_at) FROM interactions WHERE state = 'open' AND expires_at IS NOT NULL", nil, &at)
	return fromNull(at), err
}

func (s *Store) ids(q string, args ...any) (list []interaction.ID, err error) {
	err = s.rows(q, args, func(rows *sql.Rows) error {
		var id interaction.ID
		err := rows.Scan(&id)
		list = append(list, id)
		return err
	})
	return list, err
}
