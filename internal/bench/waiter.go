package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/labstack/echo/v4"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// await is the function of the product in which whoever waits for an answer is, whichever way they came.
const await = "(*Service).await"

// waiters are many that wait on a server in a process of its own.
type waiters struct {
	server string
	within string // the function of the server in which each of them is
	// begin prepares n, and gives what one of them does. It returns when the wait is over, or begun if that goes on by itself.
	begin func(h *hosted, n int) (wait func(i int) error, err error)
}

// each is one side of a row: the memory that the server needs for each of n waiters, in KB. What was prepared before is not counted.
func (w waiters) each(n int) side {
	return func() (kb float64, err error) {
		h, err := host(w.server)
		if err != nil {
			return 0, err
		}
		kb, err = w.measure(h, n)
		if stopped := h.stop(); err == nil {
			err = stopped
		}
		return kb, err
	}
}

// atOnce is how many begin to wait at the same time, so that none is turned away.
const atOnce = 250

func (w waiters) measure(h *hosted, n int) (float64, error) {
	wait, err := w.begin(h, n)
	if err != nil {
		return 0, err
	}
	before, err := h.ask("")
	if err != nil {
		return 0, err
	}
	failed := make(chan error, 1)
	for i := range n {
		go func() {
			select {
			case failed <- wait(i):
			default:
			}
		}()
		if begun := i + 1; begun%atOnce == 0 || begun == n {
			if err := h.until(begun, w.within); err != nil {
				return 0, errors.Join(err, anyOf(failed))
			}
		}
	}
	after, err := h.ask("")
	if err == nil {
		err = h.until(n, w.within) // all of them waited all the time
	}
	return float64(after-before) / float64(n) / 1024, err
}

// anyOf is what came, if anything did.
func anyOf(failed <-chan error) error {
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// waiterMemory measures the memory for each asker on the line, against a bare handler that waits on a channel.
func waiterMemory(_ context.Context, s size) (Row, error) {
	row := Row{Name: "waiter_kb", Unit: "KB", Target: 1.5, about: "memory for each waiting asker; a bare handler blocked on a channel"}
	product := waiters{"product", await, func(h *hosted, n int) (func(int) error, error) {
		paths, err := h.asks(n, blockingAsk)
		return func(i int) error { return dial(h.address, h.agent).wait(paths[i]) }, err
	}}
	bare := waiters{"poll", "blocked", func(h *hosted, n int) (func(int) error, error) {
		return func(int) error { _, err := dial(h.address, "").call("GET", "/wait", ""); return err }, nil
	}}
	return row.rounds(s.rounds, nothing, product.each(s.waiters), bare.each(s.waiters))
}

// mcpWaiterMemory measures the memory for each agent that waits over MCP, its session included, against the SDK's own handler and a tool that
// waits. What was asked is counted with the product only: over MCP it is one call to ask and to wait.
func mcpWaiterMemory(_ context.Context, s size) (Row, error) {
	row := Row{Name: "mcp_waiter_kb", Unit: "KB", Target: 1.5, about: "memory for each agent that waits over MCP; the SDK's own handler blocked in a tool"}
	begin := func(h *hosted, n int) (func(int) error, error) {
		return func(i int) error {
			session, err := h.openSession()
			if err != nil {
				return err
			}
			return session.asks(fmt.Sprintf("bench-%d", i))
		}, nil
	}
	product, bare := waiters{"product", await, begin}, waiters{"tool", "blocked", begin}
	return row.rounds(s.rounds, nothing, product.each(s.waiters), bare.each(s.waiters))
}

// socketMemory measures the memory for each page that is open and idle, against a bare socket with a goroutine each to read and to write.
func socketMemory(_ context.Context, s size) (Row, error) {
	row := Row{Name: "socket_kb", Unit: "KB", Target: 1.5, about: "memory for each idle page's socket; a bare socket whose handler has returned"}
	product := waiters{"product", "(*socket).read", func(h *hosted, n int) (func(int) error, error) {
		cookie, err := h.signIn()
		return func(int) error { return h.openSocket(cookie) }, err
	}}
	bare := waiters{"fan", "untilGone", func(h *hosted, n int) (func(int) error, error) {
		return func(int) error { _, err := watch(1, h.address, nil); return err }, nil
	}}
	return row.rounds(s.rounds, nothing, product.each(s.waiters), bare.each(s.waiters))
}

// openSocket opens a socket of the inbox, which stays open as long as the server.
func (p *product) openSocket(cookie *http.Cookie) error {
	_, err := watch(1, "ws://"+p.address+"/projects/default/live", p.ofPage(cookie))
	return err
}

// newBlocked is the least that waits for an answer: a bare handler on a channel. It notices a client that leaves, as any must.
func newBlocked() bare {
	answer := make(chan struct{})
	return newBare(http.MethodGet, "/wait", func(c echo.Context) error {
		return blocked(c.Request().Context(), answer)
	})
}

// newBlockedTool is the SDK's handler, with one tool that waits as newBlocked does.
func newBlockedTool() (address string) {
	answer := make(chan struct{})
	server := sdk.NewServer(&sdk.Implementation{Name: "bare", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "ask", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{}, blocked(ctx, answer)
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	return strings.TrimPrefix(httptest.NewServer(handler).URL, "http://")
}

//go:noinline
func blocked(ctx context.Context, answer <-chan struct{}) error {
	select {
	case <-answer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
