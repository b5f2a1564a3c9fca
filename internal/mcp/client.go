package mcp

import "time"

// The walls of clients that were measured: a call that takes longer is given up, whatever progress it tells.
const (
	codexWall  = 300 * time.Second
	geminiWall = 600 * time.Second
	// silentWall is when clients give up that hear nothing: opencode, the TypeScript SDK, and over HTTP also Claude Code and Gemini.
	silentWall = 60 * time.Second

	beforeWall       = 30 * time.Second
	beforeSilentWall = 10 * time.Second
)

// limit is how long a call of a client may take; 0: as long as it needs. A native call cannot come back later, so it is ended well before.
func limit(client string, tells, overHTTP, native bool) time.Duration {
	switch {
	case !tells && (overHTTP || client != "claude-code" && client != "codex-mcp-client" && client != "gemini-cli-mcp-client"):
		if native {
			return silentWall - beforeWall
		}
		return silentWall - beforeSilentWall
	case client == "codex-mcp-client":
		return codexWall - beforeWall
	case client == "gemini-cli-mcp-client":
		return geminiWall - beforeWall
	}
	return 0
}
