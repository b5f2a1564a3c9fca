package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
)

// bare is an Echo server that does nothing but what its one handler does.
type bare struct{ *httptest.Server }

func newBare(method, path string, handler echo.HandlerFunc) bare {
	e := echo.New()
	e.Add(method, path, handler)
	return bare{httptest.NewServer(e)}
}

func (b bare) address() string { return strings.TrimPrefix(b.URL, "http://") }

// echoing reads a body as In, and answers with the same JSON that the product's answer is.
func echoing[In, Out any](path string, answer []byte) (bare, error) {
	var out Out
	if err := json.Unmarshal(answer, &out); err != nil {
		return bare{}, err
	}
	return newBare("POST", path, func(c echo.Context) error {
		var in In
		if err := c.Bind(&in); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, out)
	}), nil
}

// bareResolve answers as a resolve does.
func bareResolve(answer []byte) (bare, error) {
	return echoing[api.Resolve, api.Interaction]("/resolve", answer)
}

// bareCreate answers as a create does.
func bareCreate(answer []byte) (bare, error) {
	return echoing[api.NewInteraction, api.Interaction]("/create", answer)
}
