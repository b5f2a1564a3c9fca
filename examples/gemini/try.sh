#!/bin/sh
# Tries the real Gemini CLI with Sayso's hook: a server of its own, a scripted model on loopback, a fresh home, and a person who answers by
# `sayso inbox`. Needs sayso, gemini and node in PATH.
#
#   examples/gemini/try.sh allow|deny
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
export HOME="$work/home" SAYSO_DATA="$work/data" GEMINI_API_KEY=made-up GEMINI_CLI_TRUST_WORKSPACE=true
mkdir -p "$HOME/.gemini" "$work/shop"
trap 'kill $serving $modelling 2>/dev/null; wait; rm -rf "$work"' EXIT

sayso serve --listen 127.0.0.1:0 >"$work/sayso.log" 2>&1 & serving=$!
node "$here/model.mjs" >"$work/model" & modelling=$!
until [ -s "$work/model" ] && [ -s "$SAYSO_DATA/server.json" ]; do sleep 0.1; done
cp "$here/settings.json" "$HOME/.gemini/settings.json"

(
	until id=$(sayso inbox list --json 2>/dev/null | grep -o '"id":"int_[a-z2-7]*"' | head -1 | cut -d'"' -f4) && [ -n "$id" ]; do sleep 0.2; done
	if [ "$1" = allow ]; then sayso inbox answer "$id" --allow; else sayso inbox answer "$id" --deny --message 'not on a Friday'; fi
) &
answering=$!

cd "$work/shop"
GOOGLE_GEMINI_BASE_URL="$(cat "$work/model")" timeout 60 gemini -m gemini-2.5-flash --approval-mode yolo -p 'run_shell_command {"command":"mkdir made","description":"Make a folder"}' </dev/null 2>"$work/gemini.log" || tail -20 "$work/gemini.log"
kill $answering 2>/dev/null || true
echo "--- made: $(test -d made && echo yes || echo no)"
sayso inbox list --all
