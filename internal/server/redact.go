package server

import (
	"context"
	"fmt"
	"log/slog"

	"sayso/internal/display"
)

// redacting is a handler of logs that leaves credentials out, wherever they stand: errors of calls out and of libraries quote what they were given.
type redacting struct{ slog.Handler }

// WithoutCredentials is h for what programs log, which may quote what they were given.
func WithoutCredentials(h slog.Handler) slog.Handler { return redacting{h} }

// Handle writes a record without its credentials.
func (h redacting) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, display.Redact(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(withoutCredentials(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs keeps attributes for every record to come.
func (h redacting) WithAttrs(attrs []slog.Attr) slog.Handler {
	kept := make([]slog.Attr, len(attrs))
	for n, a := range attrs {
		kept[n] = withoutCredentials(a)
	}
	return redacting{h.Handler.WithAttrs(kept)}
}

// WithGroup puts what comes into a group.
func (h redacting) WithGroup(name string) slog.Handler { return redacting{h.Handler.WithGroup(name)} }

func withoutCredentials(a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(display.Redact(v.String()))
	case slog.KindGroup:
		kept := make([]slog.Attr, len(v.Group()))
		for n, one := range v.Group() {
			kept[n] = withoutCredentials(one)
		}
		a.Value = slog.GroupValue(kept...)
	case slog.KindAny:
		a.Value = slog.StringValue(display.Redact(textOf(v.Any())))
	}
	return a
}

// textOf is a value as a log tells it.
func textOf(v any) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprintf("%+v", v)
}
