package main

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"time"

	"sayso/internal/api"
	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// A large store is written on the bare driver in large transactions, without a sync: through the server it would take an hour. What is in it
// is what the server writes, made by the same rules and sealed in the same chain, so that `sayso verify` finds nothing wrong with it.

const (
	storedAgents = 20
	storedOpen   = 1000 // one in so many is open
	leastOpen    = 100  // so that a small store has a full page too
	perCommit    = 5000
)

// past is what a store already holds.
type past struct {
	agents []storedAgent
	ask    interaction.Ask
	needle interaction.Ask // of some: it has a word that is searched for
	asker  interaction.ID
	person interaction.Principal
	at     time.Time
	head   audit.Hash
}

type storedAgent struct {
	key int64
	interaction.Agent
}

// one is an interaction of the past, ready to be written.
type one struct {
	made
	ended             bool
	created, answered []byte // audit entries
	sealed, closed    audit.Hash
}

// fill makes a store with n interactions, nearly all of them answered and picked up.
func fill(ctx context.Context, folder string, n int) error {
	if err := fillAgents(ctx, folder); err != nil {
		return err
	}
	r, err := openRaw(folder, "&_synchronous=OFF&_cache_size=-200000")
	if err != nil {
		return err
	}
	past, err := newPast(r, n)
	if err != nil {
		return errors.Join(err, r.close())
	}
	all := make(chan one, perCommit)
	var failed error
	go func() {
		defer close(all)
		failed = past.tell(n, all)
	}()
	return errors.Join(r.write(all), failed, r.close())
}

func fillAgents(ctx context.Context, folder string) error {
	p, err := start(ctx, folder)
	if err != nil {
		return err
	}
	_, err = p.places(storedAgents * openPerAgent)
	return errors.Join(err, p.stop())
}

func newPast(r *raw, n int) (*past, error) {
	p := &past{at: time.Now().UTC().Add(-time.Duration(n) * time.Second).Truncate(time.Millisecond)}
	p.asker = interaction.NewID(interaction.KeyPrefix, p.at)
	p.person = interaction.Principal{
		Kind: interaction.OperatorPrincipal, ID: interaction.NewID(interaction.KeyPrefix, p.at), Name: "operator key of this machine",
		Scopes: interaction.Scopes, Channel: interaction.ChannelAPI,
	}
	const agents = "SELECT a.key, a.id, p.id, o.id FROM agents a JOIN projects p ON p.key = a.project JOIN orgs o ON o.key = p.org"
	err := r.rows(agents, nil, func(row []driver.Value) error {
		a := storedAgent{key: row[0].(int64)}
		a.ID, a.ProjectID, a.OrgID = interaction.ID(row[1].(string)), interaction.ID(row[2].(string)), interaction.ID(row[3].(string))
		p.agents = append(p.agents, a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var asked api.NewInteraction
	if err := json.Unmarshal([]byte(ask), &asked); err != nil {
		return nil, err
	}
	if p.ask, err = (interaction.Ask{ToolCall: &interaction.ToolCall{Name: asked.ToolCall.Name, Input: asked.ToolCall.Input}}).Normalised(); err != nil {
		return p, err
	}
	input := bytes.Replace(asked.ToolCall.Input, []byte("git push"), []byte(needle+" push"), 1)
	p.needle, err = interaction.Ask{ToolCall: &interaction.ToolCall{Name: asked.ToolCall.Name, Input: input}}.Normalised()
	return p, err
}

// tell makes n interactions, a second apart.
func (p *past) tell(n int, out chan<- one) error {
	apart := min(storedOpen, max(n/leastOpen, 1))
	for i := range n {
		ask := p.ask
		if i%min(storedNeedle, max(n/leastOpen, 1)) == 1 {
			ask = p.needle
		}
		o, err := p.next(ask, int64(3*i+1), p.agents[i%len(p.agents)], i%apart != 0)
		if err != nil {
			return err
		}
		out <- o
	}
	return nil
}

func (p *past) next(ask interaction.Ask, sequence int64, agent storedAgent, ended bool) (o one, err error) {
	p.at = p.at.Add(time.Second)
	i := interaction.New(ask, agent.Agent, p.asker, p.at)
	r := interaction.NewRecord(i)
	o = one{ended: ended, made: made{
		agent: agent.key, at: p.at.UnixMilli(), id: i.ID, call: i.ToolCallID, creator: p.asker, decider: p.person.ID, head: r.Head, sequence: sequence,
	}}
	entry := p.entry(i, sequence, interaction.CreatedEvent, r.Head, audit.Actor{Kind: "asker", Credential: string(p.asker)})
	if o.created, o.sealed, err = entry.Seal(p.head); err != nil || !ended {
		p.head = o.sealed
		return o, err
	}
	change, err := i.Resolve(interaction.Answers{Answers: []interaction.Answer{{OptionIndices: []int{interaction.AllowOption}}}}, p.person, "", p.at)
	if err != nil {
		return o, err
	}
	o.end, o.input = r.WithEnd(change.After).End, change.Input.ID
	by := change.After.End.By
	entry = p.entry(i, sequence+2, interaction.AnsweredEvent, o.end,
		audit.Actor{Kind: string(by.Kind), Name: by.Name, Credential: string(p.person.ID), Channel: string(by.Channel)})
	o.answered, o.closed, err = entry.Seal(o.sealed)
	p.head = o.closed
	return o, err
}

func (p *past) entry(i interaction.Interaction, sequence int64, action interaction.EventKind, record []byte, by audit.Actor) audit.Entry {
	return audit.Entry{
		Sequence: sequence, At: p.at.Format(interaction.TimeFormat), Project: string(i.ProjectID), Agent: string(i.AgentID), Interaction: string(i.ID),
		Action: string(action), Digest: i.Digest, Record: audit.RecordHash(record), Actor: by,
	}
}

// write stores all that comes.
func (r *raw) write(all <-chan one) error {
	for more := true; more; {
		err := r.transaction(func(b *batch) {
			for range perCommit {
				o, ok := <-all
				if !ok {
					more = false
					return
				}
				b.one(&o)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) one(o *one) {
	last := o.sealed
	if b.raw.sequence = o.sequence; !o.ended {
		b.create(&o.made, interaction.Open, interaction.ToolCallAwaitingPermission, o.created, o.sealed[:])
	} else {
		key := b.create(&o.made, interaction.Resolved, interaction.ToolCallReady, o.created, o.sealed[:])
		b.answer(&o.made, key, o.answered, o.closed[:])
		b.exec(insertDelivery, key, o.at, o.sequence+2)
		b.raw.sequence, last = o.sequence+2, o.closed
	}
	b.raw.sample.hash = last[:]
}
