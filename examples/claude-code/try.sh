#!/bin/sh
# Tries the real Claude Code with Sayso's hooks: a server of its own, a scripted model on loopback, a fresh home, and a person who answers by
# `sayso inbox`. Needs sayso, claude and node in PATH.
#
#   examples/claude-code/try.sh gate.json allow|deny
#   examples/claude-code/try.sh http-gate.json allow|deny
#   examples/claude-code/try.sh run allow|deny         with `sayso run` instead of hooks
set -eu
here=$(cd "$(dirname "$0")" && pwd)
verdict=$2
work=$(mktemp -d)
settings=$work/settings.json
export HOME="$work/home" SAYSO_DATA="$work/data"
mkdir -p "$HOME" "$work/shop"
[ "$1" = run ] || sed "s/127.0.0.1:7777/127.0.0.1:${PORT:-7777}/" "$here/$1" >"$settings"
trap 'kill $serving $modelling 2>/dev/null; wait; rm -rf "$work"' EXIT

sayso serve --listen 127.0.0.1:"${PORT:-7777}" >"$work/sayso.log" 2>&1 & serving=$!
node "$here/model.mjs" >"$work/model" & modelling=$!
until [ -s "$work/model" ] && [ -s "$SAYSO_DATA/server.json" ]; do sleep 0.1; done
SAYSO_KEY=$(cat "$SAYSO_DATA/agent.key")

(
	until id=$(env -u SAYSO_KEY sayso inbox list --json 2>/dev/null | grep -o '"id":"int_[a-z2-7]*"' | head -1 | cut -d'"' -f4) && [ -n "$id" ]; do sleep 0.2; done
	if [ "$verdict" = allow ]; then sayso inbox answer "$id" --allow; else sayso inbox answer "$id" --deny --message 'not on a Friday'; fi
) &
answering=$!

cd "$work/shop"
export ANTHROPIC_BASE_URL="$(cat "$work/model")" ANTHROPIC_API_KEY=sk-ant-made-up DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
prompt='Bash {"command":"mkdir made","description":"Make a folder"}'
case $1 in
run) timeout 120 sayso run --agent shop -- claude -p "$prompt" </dev/null | grep '"type":"result"' | grep -o '"result":"[^"]*"' ;;
*http*) SAYSO_KEY=$SAYSO_KEY timeout 120 claude -p "$prompt" --settings "$settings" </dev/null ;;
*) timeout 120 claude -p "$prompt" --settings "$settings" </dev/null ;;
esac
kill $answering 2>/dev/null || true
echo "--- made: $(test -d made && echo yes || echo no)"
echo "--- what Sayso has:"
sayso inbox list --all
sayso agents
agent=$(sayso agents --json | grep -o '"id":"agt_[a-z2-7]*"' | head -1 | cut -d'"' -f4)
curl -s -H "Authorization: Bearer $(cat "$SAYSO_DATA/operator.key")" "http://127.0.0.1:${PORT:-7777}/api/v1/orgs/default/projects/default/agents/$agent/events"
