package store

import (
	"context"
	"database/sql"
	"time"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// PasswordOf is the password of the account with that email.
func (s *Store) PasswordOf(_ context.Context, email string) (p auth.StoredPassword, err error) {
	return p, s.row("SELECT id, coalesce(password, '') FROM users WHERE email = +?", []any{email}, &p.User, &p.Password)
}

// Passwords says whether anybody has a password, and whether the owner does.
func (s *Store) Passwords(context.Context) (anybody, owner bool, err error) {
	const q = `SELECT EXISTS (SELECT 1 FROM users WHERE password IS NOT NULL), EXISTS (SELECT 1 FROM users WHERE password IS NOT NULL AND owner = 1)`
	return anybody, owner, s.row(q, nil, &anybody, &owner)
}

// Account is what a person is known by.
func (s *Store) Account(_ context.Context, user interaction.ID) (a auth.Account, err error) {
	const q = "SELECT id, name, coalesce(email, ''), password IS NOT NULL, owner FROM users WHERE id = +?"
	if err := s.row(q, []any{user}, &a.ID, &a.Name, &a.Email, &a.HasPassword, &a.Owner); err != nil {
		return a, err
	}
	a.Issuers, err = s.issuers(user)
	return a, err
}

// issuers are those whose word we take for who somebody is.
func (s *Store) issuers(user interaction.ID) (all []string, err error) {
	const q = "SELECT DISTINCT i.issuer FROM identities i JOIN users u ON u.key = i.user WHERE u.id = +? ORDER BY i.issuer"
	err = s.rows(q, []any{user}, func(r *sql.Rows) error {
		var issuer string
		err := r.Scan(&issuer)
		all = append(all, issuer)
		return err
	})
	return all, err
}

// ChangeAccount changes an account; see [auth.Store].
func (s *Store) ChangeAccount(ctx context.Context, who interaction.Principal, c auth.AccountChange, now time.Time) error {
	return s.writer.do(ctx, func(t *tx) error {
		user, err := t.user(who.ID)
		if err != nil {
			return err
		}
		if c.Name != nil {
			if err := t.rename(user, who, *c.Name, *c.Email, now); err != nil {
				return err
			}
		}
		if c.Password == nil {
			return nil
		}
		return t.setPassword(user, who, *c.Password, c.Keep, now)
	})
}

func (t *tx) rename(user int64, who interaction.Principal, name, email string, now time.Time) error {
	err := t.run("UPDATE users SET name = ?, email = ? WHERE key = ?", name, textOrNull(email), user)
	if isTaken(err) {
		return errEmailTaken()
	}
	if err != nil {
		return err
	}
	about := interaction.Subject{Kind: "user", ID: who.ID, Name: name}
	return t.everywhere(user, who, interaction.AccountChanged, about, map[string]string{"name": name, "email": email}, now)
}

func errEmailTaken() error {
	return interaction.Errorf(interaction.Conflict, "email: there is an account with that email already")
}

func (t *tx) setPassword(user int64, who interaction.Principal, password string, keep auth.Hash, now time.Time) error {
	if err := t.run("UPDATE users SET password = ? WHERE key = ?", password, user); err != nil {
		return err
	}
	about := interaction.Subject{Kind: "user", ID: who.ID, Name: who.Name}
	if err := t.everywhere(user, who, interaction.PasswordChanged, about, nil, now); err != nil {
		return err
	}
	return t.endSessionsBut(user, who, keep, now)
}
