package store

import (
	"strings"

	"sayso/internal/interaction"
)

// query builds the text of a list: fixed columns, conditions, one order, a limit. Texts are few, since they depend only on which
// conditions there are, so their statements are kept.
type query struct {
	columns    string
	conditions []string
	args       []any
	tail       string
}

func newQuery(columns string) *query { return &query{columns: columns} }

// where adds a condition.
func (q *query) where(condition string, args ...any) {
	q.conditions = append(q.conditions, condition)
	q.args = append(q.args, args...)
}

// equal adds a condition unless value is empty, which does not filter.
func (q *query) equal(column, value string) {
	if value != "" {
		q.where(column+" = +?", value)
	}
}

// page orders by (created_at, id) of table and starts behind the cursor. It reads one row more than the page, to tell if there is a next.
func (q *query) page(table string, p interaction.Page) {
	order, beyond := "", " > "
	if p.Newest {
		order, beyond = " DESC", " < "
	}
	at, id := table+".created_at", table+".id"
	if p.After != nil {
		q.where("("+at+", "+id+")"+beyond+"(+?, +?)", ms(p.After.At), p.After.ID)
	}
	q.tail = " ORDER BY " + at + order + ", " + id + order + " LIMIT +?"
	q.args = append(q.args, p.Limit+1)
}

func (q *query) text() string {
	return q.columns + "WHERE " + strings.Join(q.conditions, " AND ") + q.tail
}
