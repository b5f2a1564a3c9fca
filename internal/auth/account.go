package auth

import (
	"context"
	"time"

	"sayso/internal/interaction"
)

// nameMost is how long a person's name may be, in code points.
const nameMost = 100

// Account is what a person is known by.
type Account struct {
	ID          interaction.ID
	Name        string
	Email       string // "": none yet
	HasPassword bool
	Owner       bool
	Issuers     []string // whose word we take for who they are
}

// StoredPassword is the password of an account, as it is stored.
type StoredPassword struct {
	User     interaction.ID
	Password string // "": none
}

// AccountChange is what becomes of an account. nil leaves a field as it is.
type AccountChange struct {
	Name, Email *string
	Password    *string // as it is stored
	Keep        Hash    // with Password: all sessions but this one end
}

// Account is the caller's own.
func (g *Gate) Account(ctx context.Context, who interaction.Principal) (Account, error) {
	return g.store.Account(ctx, who.ID)
}

// SetName changes what a person is called and their email. The email may be left out only by somebody who signs in without a password.
func (g *Gate) SetName(ctx context.Context, who interaction.Principal, name, email string) error {
	name, err := interaction.Line("name", name, nameMost)
	if err != nil {
		return err
	}
	account, err := g.Account(ctx, who)
	if err != nil {
		return err
	}
	if email != "" || account.HasPassword {
		if email, err = Email(email); err != nil {
			return err
		}
	}
	change := AccountChange{Name: &name, Email: &email}
	return g.end(g.store.ChangeAccount(ctx, who, change, g.now()), sessionsOf(who.ID))
}

// SetPassword gives a person a password, and ends all their other sessions. Whoever has one already says the old one; guesses count as those at
// the sign-in.
func (g *Gate) SetPassword(ctx context.Context, who interaction.Principal, session Hash, old, password, address string) error {
	if err := CheckPassword(password); err != nil {
		return err
	}
	account, err := g.Account(ctx, who)
	if err != nil {
		return err
	}
	if account.Email == "" {
		return interaction.Errorf(interaction.InvalidRequest, "email: a password goes with one; save your email first")
	}
	if account.HasPassword {
		if err := g.knows(ctx, account, old, address); err != nil {
			return err
		}
	}
	stored, err := g.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	change := AccountChange{Password: &stored, Keep: session}
	return g.end(g.store.ChangeAccount(ctx, who, change, g.now()), sessionsOf(who.ID))
}

// knows says whether somebody knows the password of an account.
func (g *Gate) knows(ctx context.Context, a Account, password, address string) error {
	stored, err := g.store.PasswordOf(ctx, a.Email)
	if err != nil {
		return err
	}
	err = g.guess(ctx, a.Email, address, stored.Password, password)
	if interaction.CodeOf(err) == interaction.Unauthorized {
		return interaction.Errorf(interaction.InvalidRequest, "old: that is not your present password")
	}
	return err
}

// Passwords says whether anybody has a password, and whether the owner does.
func (g *Gate) Passwords(ctx context.Context) (anybody, owner bool, err error) {
	return g.store.Passwords(ctx)
}

// Newcomer is somebody who takes up an invitation and has no account yet.
type Newcomer struct {
	ID       interaction.ID
	Name     string
	Email    string
	Password string // as typed; stored as a hash
	At       time.Time
}

// checked is n as it is stored, before its password is hashed.
func (n Newcomer) checked(now time.Time) (Newcomer, error) {
	var err error
	n.ID, n.At = interaction.NewID(interaction.UserPrefix, now), now
	if n.Name, err = interaction.Line("name", n.Name, nameMost); err != nil {
		return n, err
	}
	if n.Email, err = Email(n.Email); err != nil {
		return n, err
	}
	return n, CheckPassword(n.Password)
}
