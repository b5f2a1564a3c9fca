package mcp

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve talks MCP over in and out until in ends or ctx is done. Nothing but messages is written to out. What is open then stays open.
func Serve(ctx context.Context, config Config, backend Backend, in io.ReadCloser, out io.WriteCloser) error {
	stopping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	config.Stopping = stopping
	session, err := New(config, backend).Connect(ctx, &sdk.IOTransport{Reader: in, Writer: out}, nil)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		stop() // or closing would wait for every answer
		_ = session.Close()
	})()
	if err := session.Wait(); err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
