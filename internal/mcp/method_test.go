package mcp_test

import (
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestOnlyWhatIsDeclared checks that what the server does not offer is refused: an empty list would say that it is there.
func TestOnlyWhatIsDeclared(t *testing.T) {
	everyWay(t, func(t *testing.T, _ *product, connect func(*sdk.ClientOptions) *sdk.ClientSession) {
		s := connect(nil)
		if c := s.InitializeResult().Capabilities; c.Prompts != nil || c.Resources != nil || c.Completions != nil {
			t.Errorf("declared: %+v", c)
		}
		for method, call := range map[string]func() error{
			"prompts/list":             func() error { _, err := s.ListPrompts(t.Context(), nil); return err },
			"resources/list":           func() error { _, err := s.ListResources(t.Context(), nil); return err },
			"resources/templates/list": func() error { _, err := s.ListResourceTemplates(t.Context(), nil); return err },
			"resources/read":           func() error { _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x:y"}); return err },
			"prompts/get":              func() error { _, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "x"}); return err },
		} {
			var refused *jsonrpc.Error
			if err := call(); !errors.As(err, &refused) || refused.Code != jsonrpc.CodeMethodNotFound {
				t.Errorf("%s: %v", method, err)
			}
		}
		if _, err := s.ListTools(t.Context(), nil); err != nil {
			t.Error("tools/list:", err)
		}
	})
}
