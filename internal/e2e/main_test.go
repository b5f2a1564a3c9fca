package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"sayso/internal/server"
)

// serveData names the data folder to this test binary when it is to be the server of it, for the tests that kill one.
const serveData = "SAYSO_E2E_SERVE"

func TestMain(m *testing.M) {
	if data := os.Getenv(serveData); data != "" {
		serve(data)
	}
	code := m.Run()
	stopBrowser()
	os.Exit(code)
}

// serve is the server process. It does not end by itself.
func serve(data string) {
	config := server.Default()
	config.Listen, config.Data, config.LogLevel = "127.0.0.1:0", data, "warn"
	fmt.Fprintln(os.Stderr, server.Run(context.Background(), config, os.Stdout, os.Stderr))
	os.Exit(1)
}
