package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// methods are the requests that are answered: those of the protocol itself, and of tools, which is all that is declared.
var methods = map[string]bool{
	"initialize": true, "server/discover": true, "ping": true, "tools/list": true, "tools/call": true, "subscriptions/listen": true,
}

// declared refuses requests for what was not declared: prompts, resources, completions and levels of logging. The SDK would answer some of
// them with empty lists, from which a client must conclude that they are there.
func declared(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		if !methods[method] && !strings.HasPrefix(method, "notifications/") {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: this server offers tools only"}
		}
		return next(ctx, method, request)
	}
}
