-- +goose Up

-- Apps that show the cards of a project to their own users. Whose cards, and on whose pages: one id or origin after the other, with blanks
-- between; no agents stands for all.
CREATE TABLE embeds (
  key           INTEGER PRIMARY KEY,
  project       INTEGER NOT NULL REFERENCES projects (key),
  id            TEXT NOT NULL UNIQUE,
  name          TEXT NOT NULL,
  agents        TEXT NOT NULL,
  permission    TEXT NOT NULL CHECK (permission IN ('read', 'resolve')),
  origins       TEXT NOT NULL,
  open_in_sayso INTEGER NOT NULL CHECK (open_in_sayso IN (0, 1)),
  enabled       INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX embeds_page ON embeds (project, created_at, id);

-- Tokens that were not used yet. Using one takes it away. Sessions are not stored: they end with the process.
CREATE TABLE embed_tokens (
  hash       BLOB PRIMARY KEY,
  embed      INTEGER NOT NULL REFERENCES embeds (key) ON DELETE CASCADE,
  api_key    TEXT NOT NULL, -- the id of the key that vouched
  subject    TEXT NOT NULL,
  name       TEXT NOT NULL,
  permission TEXT NOT NULL CHECK (permission IN ('read', 'resolve')),
  agents     TEXT NOT NULL,
  origin     TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX embed_tokens_expiry ON embed_tokens (expires_at);
CREATE INDEX embed_tokens_embed  ON embed_tokens (embed);
