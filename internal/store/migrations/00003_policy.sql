-- +goose Up

-- A tool call that a policy decided: nothing was opened, and this with its audit entry is all that tells of it.
CREATE TABLE policy_decisions (
  key      INTEGER PRIMARY KEY,
  project  INTEGER NOT NULL REFERENCES projects (key),
  sequence INTEGER NOT NULL,
  agent    INTEGER NOT NULL REFERENCES agents (key),
  id       TEXT NOT NULL UNIQUE,
  record   BLOB NOT NULL, -- JSON
  at       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX policy_decisions_sequence ON policy_decisions (project, sequence);

-- +goose StatementBegin
CREATE TRIGGER policy_decisions_immutable BEFORE UPDATE ON policy_decisions
BEGIN SELECT raise(ABORT, 'a decision by policy never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER policy_decisions_kept BEFORE DELETE ON policy_decisions
BEGIN SELECT raise(ABORT, 'decisions by policy are kept for ever'); END;
-- +goose StatementEnd
