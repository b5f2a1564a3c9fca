package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	_ "github.com/mattn/go-sqlite3"

	"sayso/internal/store"
)

func main() {
	d, _ := os.MkdirTemp("", "x")
	s, err := store.Open(context.Background(), d, store.Options{})
	if err != nil {
		panic(err)
	}
	s.Close()
	db, _ := sql.Open("sqlite3", "file:"+d+"/sayso.db?_foreign_keys=on")
	for _, q := range []string{
		"UPDATE interactions SET state = ?, cancel_reason = ? WHERE key = ? AND state = 'open'",
		"UPDATE tool_calls SET state = ?, outcome = ? WHERE interaction = ?",
		"UPDATE projects SET sequence = ?, audit_head = ? WHERE key = ?",
		`INSERT INTO events (project, sequence, agent, id, kind, interaction, input_id, tool_call, body, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		"INSERT INTO audit_entries (project, sequence, entry, hash) VALUES (?, ?, ?, ?)",
		`INSERT INTO ends (interaction, record, answered, ended_at, actor_kind, actor_name, actor_id, credential, proved_by, sequence)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		`INSERT INTO inputs (agent, interaction, id, kind, delivery_mode, state, actor, queued_at)
			VALUES (?, ?, ?, 'interaction_response', 'immediate', 'resolved', ?, ?)`,
	} {
		rows, err := db.Query("EXPLAIN "+q, make([]any, strings.Count(q, "?"))...)
		if err != nil {
			fmt.Println(q, err)
			continue
		}
		fmt.Println("==", q)
		for rows.Next() {
			var a, p1, p2, p3 int
			var op string
			var p4, p5, c any
			if err := rows.Scan(&a, &op, &p1, &p2, &p3, &p4, &p5, &c); err != nil {
				panic(err)
			}
			fmt.Println(a, op, p1, p2, p3, p4, p5)
		}
	}
}
