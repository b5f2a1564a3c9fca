#!/bin/sh
# Tries the real Codex with Sayso's hooks: a server of its own, a scripted model on loopback, a fresh home, and a person who answers by
# `sayso inbox`. Needs sayso, codex and node in PATH.
#
#   examples/codex/try.sh allow|deny
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
export HOME="$work/home" CODEX_HOME="$work/codex" SAYSO_DATA="$work/data" MADE_UP_KEY=x
mkdir -p "$HOME" "$CODEX_HOME" "$work/shop"
trap 'kill $serving $modelling 2>/dev/null; wait; rm -rf "$work"' EXIT

sayso serve --listen 127.0.0.1:0 >"$work/sayso.log" 2>&1 & serving=$!
node "$here/model.mjs" >"$work/model" & modelling=$!
until [ -s "$work/model" ] && [ -s "$SAYSO_DATA/server.json" ]; do sleep 0.1; done
cp "$here/hooks.json" "$CODEX_HOME/hooks.json"
cat >"$CODEX_HOME/config.toml" <<T
model = "made-up"
model_provider = "script"
[model_providers.script]
name = "script"
base_url = "$(cat "$work/model")/v1"
wire_api = "responses"
env_key = "MADE_UP_KEY"
[features]
hooks = true
T

(
	until id=$(sayso inbox list --json 2>/dev/null | grep -o '"id":"int_[a-z2-7]*"' | head -1 | cut -d'"' -f4) && [ -n "$id" ]; do sleep 0.2; done
	if [ "$1" = allow ]; then sayso inbox answer "$id" --allow; else sayso inbox answer "$id" --deny --message 'not on a Friday'; fi
) &
answering=$!

cd "$work/shop"
timeout 60 codex exec --skip-git-repo-check --dangerously-bypass-hook-trust -s workspace-write 'exec_command {"cmd":"mkdir made"}' </dev/null 2>"$work/codex.log" || cat "$work/codex.log"
kill $answering 2>/dev/null || true
echo "--- made: $(test -d made && echo yes || echo no)"
grep '^hook: ' "$work/codex.log" || true
sayso inbox list --all
agent=$(sayso agents --json | grep -o '"id":"agt_[a-z2-7]*"' | head -1 | cut -d'"' -f4)
url=$(grep -o 'http://[0-9.:]*' "$SAYSO_DATA/server.json" | head -1)
curl -s -H "Authorization: Bearer $(cat "$SAYSO_DATA/operator.key")" "$url/api/v1/orgs/default/projects/default/agents/$agent/events" | grep -o '"event_kind":"[^"]*"\|"type":"text","text":"[^}]*'
