-- +goose Up

-- People sign in by a one-time link, a password, or somebody else's word for who they are (identities). The first is the owner: an admin of
-- every project.
ALTER TABLE users ADD COLUMN email TEXT;       -- lower case; what a password goes with
ALTER TABLE users ADD COLUMN password TEXT;    -- argon2id, as a PHC string
ALTER TABLE users ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX users_email ON users (email) WHERE email IS NOT NULL;
UPDATE users SET owner = 1 WHERE key = (SELECT min(key) FROM users);

CREATE TABLE identities (
  issuer  TEXT NOT NULL,
  subject TEXT NOT NULL,
  user    INTEGER NOT NULL REFERENCES users (key),
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

-- granted_by is the issuer that a membership follows, so that the next sign-in there may take it away again; NULL: an admin gave it.
CREATE TABLE members (
  user       INTEGER NOT NULL REFERENCES users (key),
  project    INTEGER NOT NULL REFERENCES projects (key),
  role       TEXT NOT NULL CHECK (role IN ('viewer', 'approver', 'lead', 'admin')),
  granted_by TEXT,
  given      TEXT, -- beside granted_by: the role that an admin gave by hand, which counts again when the groups give less
  created_at INTEGER NOT NULL,
  PRIMARY KEY (user, project)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_project ON members (project, created_at);

-- An invitation is a one-time link; its code is kept as a hash.
CREATE TABLE invitations (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  project    INTEGER NOT NULL REFERENCES projects (key),
  role       TEXT NOT NULL CHECK (role IN ('viewer', 'approver', 'lead', 'admin')),
  note       TEXT NOT NULL, -- who it is for, in the words of whoever made it
  hash       BLOB NOT NULL UNIQUE,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at   INTEGER -- used or taken back
) STRICT;
CREATE INDEX invitations_open ON invitations (project, created_at) WHERE ended_at IS NULL;

-- Sessions can be listed and ended by their person.
ALTER TABLE sessions ADD COLUMN id TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN client TEXT NOT NULL DEFAULT '';  -- the browser, as it says
ALTER TABLE sessions ADD COLUMN address TEXT NOT NULL DEFAULT ''; -- where it signed in from
CREATE INDEX sessions_user ON sessions (user, created_at);

ALTER TABLE api_keys ADD COLUMN created_by TEXT NOT NULL DEFAULT ''; -- as they were called then
ALTER TABLE api_keys ADD COLUMN creator TEXT NOT NULL DEFAULT '';    -- the id of the user or key that made it
ALTER TABLE api_keys ADD COLUMN used_at INTEGER;
CREATE INDEX api_keys_project ON api_keys (project, created_at);

-- What was done to the settings of a project, by whom: members, keys, embeds, sign-ins. Its audit entry has the same sequence.
CREATE TABLE admin_events (
  key      INTEGER PRIMARY KEY,
  project  INTEGER NOT NULL REFERENCES projects (key),
  sequence INTEGER NOT NULL,
  id       TEXT NOT NULL UNIQUE,
  record   BLOB NOT NULL, -- JSON
  at       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX admin_events_sequence ON admin_events (project, sequence);

-- +goose StatementBegin
CREATE TRIGGER admin_events_immutable BEFORE UPDATE ON admin_events
BEGIN SELECT raise(ABORT, 'what was done to the settings never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER admin_events_kept BEFORE DELETE ON admin_events
BEGIN SELECT raise(ABORT, 'what was done to the settings is kept for ever'); END;
-- +goose StatementEnd
