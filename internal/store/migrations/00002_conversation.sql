-- +goose Up

-- What waits for an agent is ordered by position; whoever took it is told in the event, which is never changed.
ALTER TABLE inputs ADD COLUMN position INTEGER;
ALTER TABLE inputs ADD COLUMN content TEXT; -- JSON array of content blocks, of a message
ALTER TABLE inputs ADD COLUMN control TEXT CHECK (control = 'stop' OR control = 'archive');
ALTER TABLE inputs ADD COLUMN author TEXT;  -- JSON of the actor; that of a response is in the end of its interaction
ALTER TABLE inputs ADD COLUMN canceled INTEGER NOT NULL DEFAULT 0; -- open interactions that it ended
CREATE INDEX inputs_waiting ON inputs (agent, position) WHERE state = 'received';

-- The project's sequence when the agent's state, or what waits for it, last changed: a page never takes an older one.
ALTER TABLE agents ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN stopped_at INTEGER;

-- A call that opened an interaction is kept in its request; another's name and input are here.
ALTER TABLE tool_calls ADD COLUMN call TEXT;    -- JSON: name, input, provider_call_id
ALTER TABLE tool_calls ADD COLUMN creator TEXT; -- of a call without an interaction
CREATE INDEX tool_calls_page       ON tool_calls (agent, created_at, id);
CREATE INDEX tool_calls_unfinished ON tool_calls (agent, key) WHERE state <> 'completed';

CREATE INDEX events_agent ON events (agent, sequence);
CREATE INDEX actors_page  ON actors (project, created_at, id);
