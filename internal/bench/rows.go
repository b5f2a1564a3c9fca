package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
)

// measurement makes the rows of one subject.
type measurement struct {
	name string
	run  func(context.Context, size) ([]Row, error)
}

var measurements = []measurement{
	{"resolve_c1", single(resolveOne)},
	{"resolve_c64", single(resolveMany)},
	{"batching", single(batching)},
	{"create_to_screen_1", single(createToScreen)},
	{"create_to_screen_1000", single(createToScreens)},
	{"resolve_to_release", single(resolveToRelease)},
	{"release_500", releaseInCrowd},
	{"page_1m, growth, audit_search_1m", ofMany},
	{"conversation_10k", single(longConversation)},
	{"append_c64", single(appendEvents)},
	{"stream_1000", single(eventToReaders)},
	{"socket_kb", single(socketMemory)},
	{"waiter_kb", single(waiterMemory)},
	{"mcp_waiter_kb", single(mcpWaiterMemory)},
	{"policy_1mb", single(longSubject)},
	{"verify_1m", single(verifyMany)},
}

func single(run func(context.Context, size) (Row, error)) func(context.Context, size) ([]Row, error) {
	return func(ctx context.Context, s size) ([]Row, error) {
		row, err := run(ctx, s)
		return []Row{row}, err
	}
}

func measureAll(ctx context.Context, s size, match *regexp.Regexp) (rows []Row, err error) {
	for _, m := range measurements {
		if !match.MatchString(m.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", m.name)
		some, err := m.run(ctx, s)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", m.name, err)
		}
		rows = append(rows, some...)
	}
	return rows, nil
}
