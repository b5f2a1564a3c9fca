-- +goose Up

-- Inside, everything is named by an integer key that grows, so that a commit touches few pages; the public id is a unique column.
-- Times are milliseconds since 1970, UTC. Longer lists of values are written with OR: for IN, SQLite would build a table of them each time.

CREATE TABLE orgs (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  slug       TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- A project's sequence is taken first in each writing transaction, so that the order of sequences is the order of commits.
CREATE TABLE projects (
  key        INTEGER PRIMARY KEY,
  org        INTEGER NOT NULL REFERENCES orgs (key),
  id         TEXT NOT NULL UNIQUE,
  slug       TEXT NOT NULL,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  sequence   INTEGER NOT NULL DEFAULT 0,
  audit_head BLOB,
  UNIQUE (org, slug)
) STRICT;

CREATE TABLE agents (
  key          INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL REFERENCES projects (key),
  id           TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  slug         TEXT NOT NULL,
  profile      TEXT NOT NULL DEFAULT '',
  metadata     TEXT NOT NULL DEFAULT '',
  destination  TEXT NOT NULL DEFAULT '',
  state        TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'archived')),
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  archived_at  INTEGER,
  last_seen_at INTEGER,
  UNIQUE (project, slug)
) STRICT;
CREATE INDEX agents_page ON agents (project, created_at, id);

-- The row that changes is narrow; what never changes, and how it ended, stand beside it and are only ever appended.
CREATE TABLE interactions (
  key           INTEGER PRIMARY KEY,
  project       INTEGER NOT NULL REFERENCES projects (key),
  agent         INTEGER NOT NULL REFERENCES agents (key),
  id            TEXT NOT NULL UNIQUE,
  kind          TEXT NOT NULL CHECK (kind IN ('permission', 'question')),
  state         TEXT NOT NULL DEFAULT 'open' CHECK (state = 'open' OR state = 'resolved' OR state = 'canceled'),
  cancel_reason TEXT CHECK ((cancel_reason IS NOT NULL) = (state = 'canceled')),
  wait_mode     TEXT NOT NULL CHECK (wait_mode = 'block' OR wait_mode = 'suspend' OR wait_mode = 'poll'),
  creator       TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER,
  sequence      INTEGER NOT NULL
) STRICT;
CREATE INDEX interactions_page          ON interactions (project, created_at, id);
CREATE INDEX interactions_open_page     ON interactions (project, created_at, id) WHERE state = 'open';
CREATE INDEX interactions_canceled_page ON interactions (project, created_at, id) WHERE state = 'canceled';
CREATE INDEX interactions_agent_page    ON interactions (agent, created_at, id);
CREATE INDEX interactions_agent_open    ON interactions (agent, created_at, id, creator) WHERE state = 'open';
CREATE INDEX interactions_due           ON interactions (expires_at) WHERE state = 'open' AND expires_at IS NOT NULL;

CREATE TABLE requests (
  interaction INTEGER PRIMARY KEY REFERENCES interactions (key),
  head        BLOB NOT NULL,
  suggestions BLOB
) STRICT;

-- One row for each final interaction. An agent's credential answers nothing: the last check says so again.
CREATE TABLE ends (
  interaction INTEGER PRIMARY KEY REFERENCES interactions (key),
  record      BLOB NOT NULL,
  answered    INTEGER NOT NULL CHECK (answered IN (0, 1)),
  ended_at    INTEGER NOT NULL,
  actor_kind  TEXT NOT NULL CHECK (actor_kind = 'user' OR actor_kind = 'api_key' OR actor_kind = 'external' OR actor_kind = 'system'),
  actor_name  TEXT NOT NULL,
  actor_id    TEXT,
  credential  TEXT NOT NULL,
  proved_by   TEXT NOT NULL CHECK (proved_by = 'user' OR proved_by = 'operator_key' OR proved_by = 'agent_key' OR proved_by = 'system'),
  sequence    INTEGER NOT NULL,
  CHECK (answered = 0 OR proved_by IN ('user', 'operator_key'))
) STRICT;

-- How far the answer got to the agent: the only thing that changes after the end.
CREATE TABLE deliveries (
  interaction  INTEGER PRIMARY KEY REFERENCES interactions (key),
  gone_since   INTEGER,
  picked_up_at INTEGER,
  reported_at  INTEGER,
  outcome      TEXT CHECK (outcome = 'succeeded' OR outcome = 'failed' OR outcome = 'denied' OR outcome = 'canceled'),
  sequence     INTEGER NOT NULL
) STRICT;

CREATE TABLE tool_calls (
  key         INTEGER PRIMARY KEY,
  agent       INTEGER NOT NULL REFERENCES agents (key),
  interaction INTEGER UNIQUE REFERENCES interactions (key),
  id          TEXT NOT NULL UNIQUE,
  state       TEXT NOT NULL CHECK (state = 'awaiting_permission' OR state = 'ready' OR state = 'waiting' OR state = 'completed'),
  outcome     TEXT CHECK (outcome = 'succeeded' OR outcome = 'failed' OR outcome = 'denied' OR outcome = 'canceled'),
  created_at  INTEGER NOT NULL,
  CHECK ((outcome IS NOT NULL) = (state = 'completed'))
) STRICT;

CREATE TABLE inputs (
  key           INTEGER PRIMARY KEY,
  agent         INTEGER NOT NULL REFERENCES agents (key),
  interaction   INTEGER UNIQUE REFERENCES interactions (key),
  id            TEXT NOT NULL UNIQUE,
  kind          TEXT NOT NULL CHECK (kind = 'content' OR kind = 'interaction_response' OR kind = 'control'),
  delivery_mode TEXT NOT NULL CHECK (delivery_mode = 'immediate' OR delivery_mode = 'queued' OR delivery_mode = 'steering'),
  state         TEXT NOT NULL CHECK (state = 'received' OR state = 'resolved' OR state = 'canceled' OR state = 'rejected'),
  actor         TEXT,
  queued_at     INTEGER NOT NULL
) STRICT;

-- The log: conversation events and lifecycle events, in commit order.
CREATE TABLE events (
  key         INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL REFERENCES projects (key),
  sequence    INTEGER NOT NULL,
  agent       INTEGER NOT NULL REFERENCES agents (key),
  id          TEXT NOT NULL,
  kind        TEXT NOT NULL,
  interaction INTEGER REFERENCES interactions (key),
  input_id    TEXT,
  tool_call   TEXT,
  body        TEXT,
  at          INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_sequence ON events (project, sequence);
CREATE INDEX events_interaction ON events (interaction) WHERE interaction IS NOT NULL;

-- External people, known by a relaying service's own ids.
CREATE TABLE actors (
  key          INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL REFERENCES projects (key),
  id           TEXT NOT NULL UNIQUE,
  tenant       TEXT NOT NULL,
  user         TEXT NOT NULL,
  display_name TEXT NOT NULL,
  metadata     TEXT NOT NULL DEFAULT '',
  created_at   INTEGER NOT NULL,
  UNIQUE (project, tenant, user)
) STRICT;

CREATE TABLE audit_entries (
  key      INTEGER PRIMARY KEY,
  project  INTEGER NOT NULL REFERENCES projects (key),
  sequence INTEGER NOT NULL,
  entry    BLOB NOT NULL,
  hash     BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- The result of each create that came with an Idempotency-Key.
CREATE TABLE idempotency (
  caller     TEXT NOT NULL,
  name       TEXT NOT NULL,
  request    BLOB NOT NULL,
  resource   TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (caller, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Secrets are random, and kept only as SHA-256.
CREATE TABLE api_keys (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  kind       TEXT NOT NULL CHECK (kind IN ('operator_key', 'agent_key')),
  name       TEXT NOT NULL,
  project    INTEGER REFERENCES projects (key),
  agent      INTEGER REFERENCES agents (key),
  scopes     TEXT NOT NULL,
  hash       BLOB NOT NULL UNIQUE,
  last_four  TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  CHECK (kind = 'operator_key' OR (scopes = '' AND project IS NOT NULL))
) STRICT;

CREATE TABLE sessions (
  hash       BLOB PRIMARY KEY,
  user       INTEGER NOT NULL REFERENCES users (key),
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE signin_codes (
  hash       BLOB PRIMARY KEY,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is final stays, and what was asked is never rewritten. The database refuses, whoever asks.
-- +goose StatementBegin
CREATE TRIGGER interactions_final BEFORE UPDATE ON interactions WHEN old.state <> 'open' OR old.key <> new.key
BEGIN SELECT raise(ABORT, 'a final interaction is immutable, and no key changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER interactions_only_end
BEFORE UPDATE OF project, agent, id, kind, wait_mode, creator, created_at, expires_at, sequence ON interactions
BEGIN SELECT raise(ABORT, 'an interaction never changes, but for its end'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER interactions_kept BEFORE DELETE ON interactions
BEGIN SELECT raise(ABORT, 'interactions are kept for ever'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER requests_immutable BEFORE UPDATE ON requests
BEGIN SELECT raise(ABORT, 'a request never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER requests_kept BEFORE DELETE ON requests
BEGIN SELECT raise(ABORT, 'requests are kept for ever'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ends_immutable BEFORE UPDATE ON ends
BEGIN SELECT raise(ABORT, 'a final interaction is immutable'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ends_kept BEFORE DELETE ON ends
BEGIN SELECT raise(ABORT, 'a final interaction is immutable'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER events_appended BEFORE UPDATE ON events
BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER events_kept BEFORE DELETE ON events
BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_appended BEFORE UPDATE ON audit_entries
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_kept BEFORE DELETE ON audit_entries
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
-- +goose StatementEnd
