package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"time"

	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/internal/store"
	"sayso/web"
)

// withStore runs f on the product put together by hand, because the store of a running server is out of reach and only it counts commits.
func withStore(ctx context.Context, f func(*product, *store.Store) error) error {
	return inFolder(func(folder string) (err error) {
		p, err := start(ctx, folder) // for the keys
		if err != nil {
			return err
		}
		if err := p.stop(); err != nil {
			return err
		}
		log := slog.New(slog.NewTextHandler(io.Discard, nil))
		s, err := store.Open(ctx, folder, store.Options{Log: log})
		if err != nil {
			return err
		}
		return errors.Join(withPages(p, s, log, f), s.Close())
	})
}

func withPages(p *product, s *store.Store, log *slog.Logger, f func(*product, *store.Store) error) error {
	watch := &web.Watch{}
	service := interaction.NewService(s, watch, log, time.Now)
	pages := web.New(web.Config{Log: log}, service, auth.NewGate(s, time.Now), s, watch)
	defer pages.Close()
	http := httptest.NewServer(pages)
	defer http.Close()
	p.address = strings.TrimPrefix(http.URL, "http://")
	return f(p, s)
}
