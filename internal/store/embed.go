package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

const embedColumns = `SELECT m.id, p.id, m.name, m.agents, m.permission, m.origins, m.open_in_sayso, m.enabled, m.created_at, m.updated_at
	FROM embeds m JOIN projects p ON p.key = m.project `

func embeds(read lister, text string, args ...any) (list []interaction.Embed, err error) {
	err = read(text, args, func(rows *sql.Rows) error {
		var e interaction.Embed
		var agents, origins string
		var created, updated int64
		err := rows.Scan(&e.ID, &e.ProjectID, &e.Name, &agents, &e.Permission, &origins, &e.OpenInSayso, &e.Enabled, &created, &updated)
		e.Agents, e.Origins, e.CreatedAt, e.UpdatedAt = ids(agents), strings.Fields(origins), fromMS(created), fromMS(updated)
		list = append(list, e)
		return err
	})
	return list, err
}

func ids(text string) (list []interaction.ID) {
	for id := range strings.FieldsSeq(text) {
		list = append(list, interaction.ID(id))
	}
	return list
}

func idsText(list []interaction.ID) string {
	texts := make([]string, len(list))
	for n, id := range list {
		texts[n] = string(id)
	}
	return strings.Join(texts, " ")
}

// Embed gives one embed.
func (s *Store) Embed(_ context.Context, id interaction.ID) (interaction.Embed, error) {
	return only(embeds(s.rows, embedColumns+"WHERE m.id = +?", id))
}

// Embeds lists the embeds of a project.
func (s *Store) Embeds(_ context.Context, project interaction.ID, page interaction.Page) ([]interaction.Embed, error) {
	q := embedQuery(project, page)
	return embeds(s.rows, q.text(), q.args...)
}

func embedQuery(project interaction.ID, page interaction.Page) *query {
	q := newQuery(embedColumns)
	q.where("m.project = (SELECT key FROM projects WHERE id = ?)", project)
	q.page("m", page)
	return q
}

func (t *tx) embed(id interaction.ID) (interaction.Embed, error) {
	return only(embeds(t.rows, embedColumns+"WHERE m.id = +?", id))
}

// CreateEmbed stores an embed; see [interaction.Store].
func (s *Store) CreateEmbed(ctx context.Context, e interaction.Embed, once interaction.Once, done interaction.AdminEvent) (made interaction.Embed, created bool, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		before, err := t.already(once)
		if created = before == ""; err != nil || !created {
			made, err = t.earlier(before, err)
			return err
		}
		if err := t.insertEmbed(e); err != nil {
			return err
		}
		if err := t.remember(once, e.ID, e.CreatedAt); err != nil {
			return err
		}
		made = e
		return t.administered(done)
	})
	return made, created && err == nil, err
}

func (t *tx) earlier(id interaction.ID, err error) (interaction.Embed, error) {
	if err != nil {
		return interaction.Embed{}, err
	}
	return t.embed(id)
}

func (t *tx) insertEmbed(e interaction.Embed) error {
	return t.run(`INSERT INTO embeds (project, id, name, agents, permission, origins, open_in_sayso, enabled, created_at, updated_at)
		VALUES ((SELECT key FROM projects WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.ProjectID, e.ID, e.Name, idsText(e.Agents), e.Permission, strings.Join(e.Origins, " "), e.OpenInSayso, e.Enabled, ms(e.CreatedAt), ms(e.UpdatedAt))
}

// UpdateEmbed changes an embed; see [interaction.Store].
func (s *Store) UpdateEmbed(ctx context.Context, id interaction.ID, change func(interaction.Embed) (interaction.Embed, *interaction.AdminEvent)) (e interaction.Embed, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		if e, err = t.embed(id); err != nil {
			return err
		}
		changed, done := change(e)
		if e = changed; done == nil {
			return nil
		}
		err := t.run("UPDATE embeds SET name = ?, agents = ?, permission = ?, origins = ?, open_in_sayso = ?, enabled = ?, updated_at = ? WHERE id = ?",
			e.Name, idsText(e.Agents), e.Permission, strings.Join(e.Origins, " "), e.OpenInSayso, e.Enabled, ms(e.UpdatedAt), e.ID)
		if err != nil {
			return err
		}
		return t.administered(*done)
	})
	return e, err
}

// RemoveEmbed deletes an embed and its tokens; see [interaction.Store].
func (s *Store) RemoveEmbed(ctx context.Context, id interaction.ID, done func(interaction.Embed) (interaction.AdminEvent, error)) error {
	return s.writer.do(ctx, func(t *tx) error {
		e, err := t.embed(id)
		if err != nil {
			return err
		}
		event, err := done(e)
		if err != nil {
			return err
		}
		if err := t.run("DELETE FROM embeds WHERE id = ?", id); err != nil {
			return err
		}
		return t.administered(event)
	})
}

// AddEmbedToken stores a token, and forgets those that are past their time.
func (s *Store) AddEmbedToken(ctx context.Context, h auth.Hash, v auth.Voucher, now time.Time) error {
	return s.writer.do(ctx, func(t *tx) error {
		if err := t.run("DELETE FROM embed_tokens WHERE expires_at <= ?", ms(now)); err != nil {
			return err
		}
		g := v.Grant
		return t.run(`INSERT INTO embed_tokens (hash, embed, api_key, subject, name, permission, agents, origin, expires_at)
			SELECT ?, key, ?, ?, ?, ?, ?, ?, ? FROM embeds WHERE id = ?`,
			h[:], v.Key, g.Subject, g.Name, g.Permission, idsText(g.Agents), g.Origin, ms(v.ExpiresAt), v.Embed)
	})
}

// UseEmbedToken takes a token away, and tells what it stood for. Only one caller finds it.
func (s *Store) UseEmbedToken(ctx context.Context, h auth.Hash) (v auth.Voucher, err error) {
	var missing error
	if err := s.row("SELECT hash FROM embed_tokens WHERE hash = ?", []any{h[:]}, new([]byte)); err != nil {
		return v, err // anybody may try, and what is not there costs no sync of the disk
	}
	err = s.writer.do(ctx, func(t *tx) error {
		var agents string
		var expires int64
		t.writes++
		missing = t.row(`DELETE FROM embed_tokens WHERE hash = ? RETURNING (SELECT id FROM embeds WHERE key = embed), api_key, subject, name, permission, agents,
			origin, expires_at`, []any{h[:]}, &v.Embed, &v.Key, &v.Grant.Subject, &v.Grant.Name, &v.Grant.Permission, &agents, &v.Grant.Origin, &expires)
		v.Grant.Agents, v.ExpiresAt = ids(agents), fromMS(expires)
		if interaction.CodeOf(missing) == interaction.NotFound {
			return nil
		}
		return missing
	})
	if err == nil {
		err = missing
	}
	return v, err
}

// Vouching gives an embed and says whether a key vouches still.
func (s *Store) Vouching(ctx context.Context, embed, key interaction.ID) (e interaction.Embed, vouches bool, err error) {
	if e, err = s.Embed(ctx, embed); err != nil {
		return e, false, err
	}
	err = s.row("SELECT EXISTS (SELECT 1 FROM api_keys WHERE id = ? AND kind = 'operator_key' AND revoked_at IS NULL)", []any{key}, &vouches)
	return e, vouches, err
}
