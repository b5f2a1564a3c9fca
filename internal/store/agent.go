package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"sayso/internal/interaction"
)

const agentFields = `SELECT a.key, o.id, p.id, a.id, a.name, a.slug, a.profile, a.metadata, a.destination, a.state, a.created_at,
	a.updated_at, a.archived_at, a.last_seen_at, a.stopped_at, a.version, `

const agentColumns = agentFields + `(SELECT count(*) FROM interactions i WHERE i.agent = a.key AND i.state = 'open'),
	(SELECT min(i.created_at) FROM interactions i WHERE i.agent = a.key AND i.state = 'open')` + agentTables

const agentTables = `
	FROM agents a JOIN projects p ON p.key = a.project JOIN orgs o ON o.key = p.org `

// scanAgent reads a row of agentColumns.
func scanAgent(scan func(...any) error) (key int64, a interaction.Agent, err error) {
	var metadata, destination string
	var created, updated int64
	var archived, seen, stopped, oldest sql.NullInt64
	err = scan(&key, &a.OrgID, &a.ProjectID, &a.ID, &a.Name, &a.Key, &a.Profile, &metadata, &destination, &a.State, &created,
		&updated, &archived, &seen, &stopped, &a.Version, &a.OpenInteractions, &oldest)
	if err != nil {
		return 0, a, found(err)
	}
	a.CreatedAt, a.UpdatedAt, a.ArchivedAt = fromMS(created), fromMS(updated), fromNull(archived)
	a.LastSeenAt, a.StoppedAt, a.OldestOpen = fromNull(seen), fromNull(stopped), fromNull(oldest)
	if metadata != "" {
		err = json.Unmarshal([]byte(metadata), &a.Metadata)
	}
	if destination != "" && err == nil {
		err = json.Unmarshal([]byte(destination), &a.Destination)
	}
	return key, a, err
}

// Agent gives one agent.
func (s *Store) Agent(_ context.Context, id interaction.ID) (interaction.Agent, error) {
	stmt, err := s.query(agentColumns + "WHERE a.id = +?")
	if err != nil {
		return interaction.Agent{}, err
	}
	_, a, err := scanAgent(stmt.QueryRow(id).Scan)
	return a, err
}

// AgentName is what an agent is called.
func (s *Store) AgentName(_ context.Context, id interaction.ID) (name string, err error) {
	err = s.row("SELECT name FROM agents WHERE id = ?", []any{id}, &name)
	return name, err
}

func (t *tx) agent(where string, args ...any) (key int64, a interaction.Agent, err error) {
	stmt, err := t.w.stmt(agentColumns + where)
	if err != nil {
		return 0, a, err
	}
	return scanAgent(stmt.QueryRow(args...).Scan)
}

// asker is an agent that asks, and its place. What is open for it is not counted.
func (t *tx) asker(id interaction.ID) (at place, a interaction.Agent, err error) {
	stmt, err := t.w.stmt(agentFields + "0, NULL, a.project" + agentTables + "WHERE a.id = +?")
	if err != nil {
		return at, a, err
	}
	at.agent, a, err = scanAgent(func(into ...any) error { return stmt.QueryRow(id).Scan(append(into, &at.project)...) })
	at.projectID, at.agentID = a.ProjectID, a.ID
	return at, a, err
}

// CreateAgent makes an agent, or gives the one that has its key already.
func (s *Store) CreateAgent(ctx context.Context, p interaction.Project, a interaction.NewAgent, once interaction.Once, now time.Time) (agent interaction.Agent, created bool, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		id, err := t.already(once)
		if err != nil {
			return err
		}
		if id != "" {
			_, agent, err = t.agent("WHERE a.id = +?", id)
			return err
		}
		agent, created, err = t.createAgent(p, a, now)
		if err != nil {
			return err
		}
		return t.remember(once, agent.ID, now)
	})
	return agent, created, err
}

func (t *tx) createAgent(p interaction.Project, a interaction.NewAgent, now time.Time) (interaction.Agent, bool, error) {
	_, there, err := t.agent("WHERE p.id = +? AND a.slug = +?", p.ID, a.Key)
	if interaction.CodeOf(err) != interaction.NotFound {
		return there, false, err
	}
	metadata, destination, err := agentJSON(a.Metadata, a.Destination)
	if err != nil {
		return there, false, err
	}
	id := interaction.NewID(interaction.AgentPrefix, now)
	err = t.run(`INSERT INTO agents (project, id, name, slug, profile, metadata, destination, created_at, updated_at)
		VALUES ((SELECT key FROM projects WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.ID, id, a.Name, a.Key, a.Profile, metadata, destination, ms(now), ms(now))
	if err != nil {
		return there, false, err
	}
	_, made, err := t.agent("WHERE a.id = +?", id)
	return made, true, err
}

func agentJSON(metadata map[string]string, d *interaction.Destination) (meta, dest string, err error) {
	if len(metadata) > 0 {
		b, err := json.Marshal(metadata)
		if err != nil {
			return "", "", err
		}
		meta = string(b)
	}
	if d != nil {
		b, err := json.Marshal(d)
		if err != nil {
			return "", "", err
		}
		dest = string(b)
	}
	return meta, dest, nil
}

// UpdateAgent changes an agent inside the transaction that writes it.
func (s *Store) UpdateAgent(ctx context.Context, id interaction.ID, change func(interaction.Agent) (interaction.Agent, error)) (a interaction.Agent, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		key, before, err := t.agent("WHERE a.id = +?", id)
		if err != nil {
			return err
		}
		if a, err = change(before); err != nil {
			return err
		}
		metadata, destination, err := agentJSON(a.Metadata, a.Destination)
		if err != nil {
			return err
		}
		return t.run("UPDATE agents SET name = ?, metadata = ?, destination = ?, updated_at = ? WHERE key = ?",
			a.Name, metadata, destination, ms(a.UpdatedAt), key)
	})
	return a, err
}

// TouchAgent remembers when an agent was heard of.
func (s *Store) TouchAgent(id interaction.ID, at time.Time) {
	s.writer.later("touch agent", func(t *tx) error {
		return t.run("UPDATE agents SET last_seen_at = ? WHERE id = ?", ms(at), id)
	})
}

// Agents lists agents by (created_at, id).
func (s *Store) Agents(_ context.Context, f interaction.AgentFilter) (list []interaction.Agent, err error) {
	q := newQuery(agentColumns)
	q.where("a.project = (SELECT key FROM projects WHERE id = ?)", f.Project)
	q.equal("a.name", f.Name)
	q.equal("a.slug", f.Key)
	q.equal("a.state", string(f.State))
	q.page("a", f.Page)
	err = s.rows(q.text(), q.args, func(rows *sql.Rows) error {
		_, a, err := scanAgent(rows.Scan)
		list = append(list, a)
		return err
	})
	return list, err
}
