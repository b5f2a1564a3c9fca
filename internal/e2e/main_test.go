package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"sayso/internal/server"
)

// serveData names the data folder to this test binary when it is to be the server of it, for the tests that kill one.
const serveData = "SAYSO_E2E_SERVE"

// atOnce is how many stories are played at once, if -parallel does not say: most of the time they wait for something.
const atOnce = "4"

func TestMain(m *testing.M) {
	if data := os.Getenv(serveData); data != "" {
		serve(data)
	}
	flag.Parse()
	if !given("test.parallel") {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			panic(err) // unreachable: package testing has that flag
		}
	}
	code := m.Run()
	stopBrowser()
	removeUsed()
	os.Exit(code)
}

// given says whether a flag stands on the command line.
func given(name string) (is bool) {
	flag.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
}

// serve is the server process. It does not end by itself.
func serve(data string) {
	config := server.Default()
	config.Listen, config.Data, config.LogLevel = "127.0.0.1:0", data, "warn"
	fmt.Fprintln(os.Stderr, server.Run(context.Background(), config, os.Stdout, os.Stderr))
	os.Exit(1)
}
