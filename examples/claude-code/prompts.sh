#!/usr/bin/env bash
# Has the real Claude Code ask for permission in Sayso, against a scripted model on this machine: it needs no account and reaches nothing
# outside. CLAUDE is the program to try (npm i @anthropic-ai/claude-code); SAYSO is ours. What it prints was recorded in recorded.txt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
claude=${CLAUDE:-claude} sayso=${SAYSO:-$here/../../bin/sayso} transport=${1:-stdio}
work=$(mktemp -d)
started=()
trap 'for p in "${started[@]}"; do kill "$p" 2>/dev/null || true; done; rm -rf "$work"' EXIT
export SAYSO_DATA=$work/data

"$sayso" serve --listen 127.0.0.1:0 >"$work/out" 2>"$work/log" & started+=($!)
until [ -s "$work/out" ]; do sleep 0.1; done
url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$SAYSO_DATA/server.json")

cat >"$work/steps.json" <<'JSON'
[{"name": "Bash", "input": {"command": "echo hi > out.txt", "description": "Write a file"}},
 {"name": "Bash", "input": {"command": "echo no > no.txt", "description": "Write another"}},
 {"name": "AskUserQuestion", "input": {"questions": [
   {"question": "Which colour?", "header": "Colour", "multiSelect": false,
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cool"}]},
   {"question": "Which features?", "header": "Features", "multiSelect": true,
    "options": [{"label": "Auth", "description": "a"}, {"label": "Push", "description": "b"}]}]}},
 {"name": "mcp__sayso__ask", "input": {"question": "Which branch?", "options": ["main", "release"]}}]
JSON
python3 "$here/model.py" "$work/steps.json" "$work/results" >"$work/port" & started+=($!)
until [ -s "$work/port" ]; do sleep 0.1; done

if [ "$transport" = http ]; then
  printf '{"mcpServers":{"sayso":{"type":"http","url":"%s/mcp","headers":{"Authorization":"Bearer %s"},"timeout":86400000}}}' \
    "$url" "$(cat "$SAYSO_DATA/agent.key")" >"$work/mcp.json"
else
  printf '{"mcpServers":{"sayso":{"type":"stdio","command":"%s","args":["mcp","serve","--agent-id","swe"],"timeout":86400000,"alwaysLoad":true}}}' \
    "$sayso" >"$work/mcp.json"
fi

# The person: allows the first, denies the second with a reason, answers the questions.
id() { "$sayso" inbox list --json | grep -o 'int_[a-z2-7]\{26\}' | head -1 || true; }
answer() { local i; until i=$(id) && [ -n "$i" ]; do sleep 0.1; done; "$sayso" inbox answer "$i" --by Dana "$@"; }
{
  answer --allow
  answer --deny --message 'No: use the staging bucket instead.'
  answer --select 'Colour=Blue' --select 'Features=Auth,Push'
  answer --text release
} >"$work/answers" & started+=($!)

mkdir "$work/home" "$work/project"
(cd "$work/project" && env -i PATH="$PATH" HOME="$work/home" SAYSO_DATA="$SAYSO_DATA" ANTHROPIC_API_KEY=made-up-key \
  ANTHROPIC_BASE_URL="http://127.0.0.1:$(cat "$work/port")" CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_TELEMETRY=1 \
  DISABLE_ERROR_REPORTING=1 DISABLE_AUTOUPDATER=1 \
  timeout 120 "$claude" -p "Do the task" --permission-prompt-tool mcp__sayso__request_approval --mcp-config "$work/mcp.json" \
  --output-format json --verbose </dev/null >"$work/claude.json") || { echo "claude failed: $(tail -c 600 "$work/claude.json")"; tail -5 "$work/log"; }

echo "# Claude Code $("$claude" --version), $transport"
echo "# what the model was told of each tool call"
sed -E 's/int_[a-z2-7]{26}/int_…/g' "$work/results"
echo "# files it wrote"
ls "$work/project"
echo "# how the run ended"
grep -o '"subtype":"[a-z_]*"' "$work/claude.json" | tail -1
grep -o '"permission_denials":\[[^]]*\]' "$work/claude.json" | tail -1
