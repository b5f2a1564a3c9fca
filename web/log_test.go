package web_test

import (
	"log/slog"
	"strings"
	"testing"

	"sayso/web"
)

// TestLogsHoldNoSecrets goes through every route as everybody, right and wrong, and looks for keys, cookies and bodies in the log.
func TestLogsHoldNoSecrets(t *testing.T) {
	out := &journal{}
	c := newCast(t, func(config *web.Config) {
		config.Log = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	const canary = "canary-7c1d"
	i, at := c.asks(c.path, strings.Replace(bash, "git", canary+" git", 1))
	id := at[strings.LastIndexByte(at, '/')+1:]
	agent := c.path[len(project+"/agents/"):]
	for _, route := range everyRoute {
		of := agent
		if strings.HasSuffix(route.path, "/archive") {
			of, _ = c.newAgent("archived")
		}
		path := place{"default", "default", of, id}.of(c.filled(route.path))
		for _, who := range principals {
			if route.path != "/signout" {
				c.as(who, route.method, path, strings.Replace(route.body, ":digest", i.Digest, 1))
			}
			c.as(who, route.method, path, canary)
			c.as(who, route.method, path, `{"`+canary+`":1}`)
		}
	}
	c.pages.Close()
	said := out.take()
	if strings.Count(said, "msg=request") < 3*len(everyRoute) {
		t.Fatalf("the log says too little:\n%.2000s", said)
	}
	secrets := map[string]string{"the body": canary}
	for who, key := range c.keys {
		if key != "" {
			secrets["the key of "+who] = key
		}
	}
	for who, cookie := range c.cookies {
		_, value, _ := strings.Cut(strings.SplitN(cookie, ";", 2)[0], "=")
		secrets["the session of "+who] = value
	}
	for what, secret := range secrets {
		if n := strings.Index(said, secret); n >= 0 {
			t.Errorf("%s is in the log: %s", what, said[max(n-200, 0):min(n+100, len(said))])
		}
	}
}
