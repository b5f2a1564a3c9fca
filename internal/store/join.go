package store

import (
	"database/sql"

	"sayso/internal/interaction"
)

// sameMost is how many of the newest interactions that ask the same are looked at.
const sameMost = 20

// join gives the interaction that an ask takes up; its ID is "" if there is none. An answer that is handed over with it is noted as picked up
// here, so that nobody is handed it again.
func (t *tx) join(s *Store, at place, j *interaction.Joining) (r interaction.Record, err error) {
	type same struct {
		id     interaction.ID
		callID string
	}
	var found []same
	err = t.rows(`SELECT i.id, a.call_id FROM asks a JOIN interactions i ON i.key = a.interaction
		WHERE a.agent = ? AND a.digest = ? ORDER BY a.interaction DESC LIMIT ?`, []any{at.agent, j.Digest, sameMost}, func(rows *sql.Rows) error {
		var one same
		err := rows.Scan(&one.id, &one.callID)
		found = append(found, one)
		return err
	})
	for _, one := range found {
		of, r, err := t.locate(s, one.id)
		if err != nil {
			return r, err
		}
		i, err := r.Interaction()
		if err != nil {
			return r, err
		}
		if j.Takes(i, one.callID) {
			return t.handOver(of, r, j)
		}
	}
	return interaction.Record{}, err
}

func (t *tx) handOver(at place, r interaction.Record, j *interaction.Joining) (interaction.Record, error) {
	if r.State == interaction.Open || !r.Delivery.PickedUpAt.IsZero() {
		return r, nil
	}
	r.Delivery.PickedUpAt = j.Now
	return r, t.setDelivery(at, r)
}

// insertAsk notes that the same request may take up what was opened.
func (t *tx) insertAsk(at place, r interaction.Record, j *interaction.Joining) error {
	if j == nil {
		return nil
	}
	return t.run("INSERT INTO asks (interaction, agent, digest, call_id) VALUES (?, ?, ?, ?)", r.Key, at.agent, j.Digest, j.CallID)
}
