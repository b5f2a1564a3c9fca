-- +goose Up

-- What may be taken up again by the same request. Only requests that say so are here; see interaction.Joining.
CREATE TABLE asks (
  interaction INTEGER PRIMARY KEY REFERENCES interactions (key),
  agent       INTEGER NOT NULL REFERENCES agents (key),
  digest      TEXT NOT NULL,
  call_id     TEXT NOT NULL
) STRICT;
CREATE INDEX asks_same ON asks (agent, digest, interaction);

-- Workflows that a request paused. Their ids are their callers' own.
CREATE TABLE workflows (
  key         INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL REFERENCES projects (key),
  agent       INTEGER NOT NULL REFERENCES agents (key),
  id          TEXT NOT NULL,
  state       TEXT NOT NULL CHECK (state = 'running' OR state = 'paused' OR state = 'completed' OR state = 'failed' OR state = 'canceled'),
  interaction INTEGER REFERENCES interactions (key),
  checkpoint  TEXT NOT NULL,
  updated_at  INTEGER NOT NULL,
  UNIQUE (project, id)
) STRICT;
