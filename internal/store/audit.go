package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"sayso/internal/interaction"
)

// auditColumns are a row of the audit: what the index has, then the interaction or decision, its last audit entry and what superseded it.
const auditColumns = `SELECT l.key, l.outcome, l.open_ms, a.name, u.sequence, u.hash, coalesce(e.credential, ''), p.record, coalesce(n.content, ''),
	coalesce(i.key, 0), l.project, l.agent, coalesce(i.id, ''), coalesce(i.state, ''), l.at, coalesce(i.creator, ''), coalesce(i.sequence, 0),
	r.head, r.suggestions, e.record, e.sequence, ` + deliveryColumns + ` FROM `

// auditTables go with auditColumns.
const auditTables = ` CROSS JOIN agents a ON a.key = l.agent CROSS JOIN audit_entries u ON u.key = l.entry
	LEFT JOIN interactions i ON i.key = l.interaction LEFT JOIN requests r ON r.interaction = i.key LEFT JOIN ends e ON e.interaction = i.key
	LEFT JOIN deliveries d ON d.interaction = i.key LEFT JOIN policy_decisions p ON p.key = l.decision LEFT JOIN inputs n ON n.key = l.message `

// Audit lists rows of the audit; see [interaction.Store].
func (s *Store) Audit(_ context.Context, f interaction.AuditFilter, page interaction.AuditPage) ([]interaction.AuditRow, error) {
	q, err := s.auditQuery(auditColumns, auditTables, f)
	if err != nil {
		return nil, err
	}
	q.place(f, page)
	var list []interaction.AuditRow
	var keys []row
	err = s.rows(q.text(), q.args, func(rows *sql.Rows) error {
		a, r, err := scanAuditRow(rows)
		list, keys = append(list, a), append(keys, r)
		return err
	})
	for n := 0; n < len(list) && err == nil; n++ {
		list[n].Record, err = s.named(s.row, keys[n])
	}
	if page.After > 0 {
		slices.Reverse(list)
	}
	return list, err
}

func scanAuditRow(rows *sql.Rows) (a interaction.AuditRow, r row, err error) {
	var open int64
	var hash []byte
	var message string
	r, err = scanRow(func(record ...any) error {
		return rows.Scan(append([]any{&a.Place, &a.Outcome, &open, &a.AgentName, &a.Sequence, &hash, &a.Credential, &a.Decision, &message}, record...)...)
	})
	a.OpenFor, a.Hash = time.Duration(open)*time.Millisecond, hex.EncodeToString(hash)
	if err == nil && message != "" {
		err = json.Unmarshal([]byte(message), &a.Superseded)
	}
	return a, r, err
}

// auditQuery describes the rows of f, which come through an index in their order, as a test asserts. Filters that have no index of their own
// pick from the rows that pass by; these are narrow.
func (s *Store) auditQuery(columns, tables string, f interaction.AuditFilter) (*query, error) {
	from := "idx.listed l"
	if f.Words != "" {
		from = "idx.words w CROSS JOIN idx.listed l ON l.key = w.rowid"
	}
	q := newQuery(columns + from + tables)
	if err := s.searched(q, f.Words); err != nil {
		return nil, err
	}
	if f.Agent != "" {
		q.where("l.agent = (SELECT key FROM agents WHERE id = ?)", f.Agent)
	}
	q.where("l.project = (SELECT key FROM projects WHERE id = ?)", f.Project)
	q.equal("l.outcome", string(f.Outcome))
	if f.CancelReason != "" {
		q.where("l.reason <> '' AND l.reason = +?", f.CancelReason) // the first makes the partial index fit
	}
	q.equal("l.kind", string(f.Kind))
	q.equal("l.channel", string(f.Channel))
	if f.By != "" {
		q.where("(l.who = +? OR l.actor = +?)", f.By, f.By)
	}
	q.time("l.at >= +?", f.From)
	q.time("l.at < +?", f.Until)
	return q, nil
}

// place orders by the place in the audit and starts where page does. It reads one row more than the page, to tell if there is a next.
func (q *query) place(f interaction.AuditFilter, page interaction.AuditPage) {
	key := "l.key"
	if f.Words != "" {
		key = "w.rowid"
	}
	order := " DESC"
	switch {
	case page.After > 0:
		order = ""
		q.where(key+" > +?", page.After)
	case page.Before > 0:
		q.where(key+" < +?", page.Before)
	}
	q.tail = " ORDER BY " + key + order + " LIMIT +?"
	q.args = append(q.args, page.Limit+1)
}

// AuditFigures sums up the newest rows that f describes; see [interaction.Store].
func (s *Store) AuditFigures(_ context.Context, f interaction.AuditFilter) (sum interaction.Figures, err error) {
	q, err := s.auditQuery("SELECT l.at, l.outcome, l.open_ms FROM ", " ", f)
	if err != nil {
		return sum, err
	}
	q.place(f, interaction.AuditPage{Limit: interaction.FiguresMost - 1})
	if sum.Capped, err = s.daily(q, &sum); err != nil {
		return sum, err
	}
	return sum, s.percentiles(q, &sum)
}

const dayMS = 24 * 60 * 60 * 1000

// daily counts the rows of q by day and outcome.
func (s *Store) daily(q *query, sum *interaction.Figures) (capped bool, err error) {
	text := "SELECT at / " + strconv.Itoa(dayMS) + " AS day, outcome, count(*) FROM (" + q.text() + ") GROUP BY day, outcome ORDER BY day"
	err = s.rows(text, q.args, func(rows *sql.Rows) error {
		var day int64
		var o interaction.Outcome
		var n int
		if err := rows.Scan(&day, &o, &n); err != nil {
			return err
		}
		sum.Add(fromMS(day*dayMS), o, n)
		return nil
	})
	if err != nil || sum.Count < interaction.FiguresMost {
		return false, err
	}
	return s.hasMore(q)
}

// hasMore says whether there is a row behind those of q.
func (s *Store) hasMore(q *query) (bool, error) {
	var n int
	args := append(slices.Clone(q.args[:len(q.args)-1]), interaction.FiguresMost+1)
	err := s.row("SELECT count(*) FROM ("+q.text()+")", args, &n)
	return n > interaction.FiguresMost, err
}

// percentiles are those of the time to an answer.
func (s *Store) percentiles(q *query, sum *interaction.Figures) error {
	n := sum.Answered()
	if n == 0 {
		return nil
	}
	half, most := interaction.Rank(n, 50), interaction.Rank(n, 95)
	text := `SELECT place, open_ms FROM (SELECT open_ms, row_number() OVER (ORDER BY open_ms) AS place FROM (` + q.text() + `)
		WHERE outcome = 'allowed' OR outcome = 'denied' OR outcome = 'answered') WHERE place = +? OR place = +?`
	return s.rows(text, append(slices.Clone(q.args), half, most), func(rows *sql.Rows) error {
		var place int
		var open int64
		err := rows.Scan(&place, &open)
		if place == half {
			sum.Median = time.Duration(open) * time.Millisecond
		}
		if place == most {
			sum.P95 = time.Duration(open) * time.Millisecond
		}
		return err
	})
}
