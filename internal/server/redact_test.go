package server

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// secretive tells a secret when a log asks it.
type secretive struct{ text string }

func (s secretive) LogValue() slog.Value { return slog.StringValue(s.text) }

// canaries are credentials of every shape in what may quote them: each with the part that must not be in a log.
func canaries() (all map[string]string) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := func(from string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = from[random.IntN(len(from))]
		}
		return string(b)
	}
	const mixed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	all = map[string]string{}
	shapes := []func() (whole, secret string){
		func() (string, string) {
			s := auth.NewSecret(interaction.OperatorPrincipal)
			return s, s[len("sayso_op_"):]
		},
		func() (string, string) {
			s := auth.NewSecret(interaction.AgentPrincipal)
			return s, s[len("sayso_agt_"):]
		},
	}
	for prefix, n := range map[string]int{
		"ghp_": 36, "github_pat_": 60, "glpat-": 20, "sk-proj-9A": 40, "sk_live_": 24, "xoxb-": 30, "npm_": 36, "hf_": 34, "AIza": 35, "dop_v1_": 64, "shpat_": 32, "AKIA": 0, "ASIA": 0,
	} {
		shapes = append(shapes, func() (string, string) {
			secret := letters(mixed, n)
			if n == 0 {
				secret = letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 16)
			}
			return prefix + secret, secret
		})
	}
	shapes = append(shapes, func() (string, string) {
		s := letters(mixed, 60)
		return "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.eyJ" + letters(mixed, 40) + "." + s, s
	})
	for _, shape := range shapes {
		for _, around := range []string{
			"%s", "key %s was refused", `{"key":"%s","n":1}`, `Get "https://api.example.com/v1?key=%s&x=1": EOF`, "x=%s;", "'%s'", "(%s)", "Authorization: Bearer %s", "a\n%s\nb", "prefix-%s", "[%s]", "token: %s", "https://%s@github.com/x.git",
		} {
			whole, secret := shape()
			all[fmt.Sprintf(around, whole)] = secret
		}
	}
	for _, around := range []string{
		"postgres://sayso:%s@db.example.com/x", `dial "https://u:%s@h:443/": refused`, "Authorization: Basic %s", `"Authorization":["Bearer %s"]`, "authorization=%s", "Proxy-Authorization: Basic %s",
		"bearer %s", "Cookie: sayso=%s; other=1", "Set-Cookie: __Host-sayso=%s; Path=/", "password=%s", `"client_secret":"%s"`, "access_token=%s&x", `"refresh_token": "%s"`, "id_token=%s",
		"aws_secret_access_key = %s", "AccountKey=%s;EndpointSuffix=x", "SharedAccessKey=%s", "api-key: %s", `Post "https://id.example.com/token?code=%s": EOF`, "/signin/oidc/callback?code=x&state=%s",
		"https://x.blob.example/y?sp=r&sig=%s", "code_verifier=%s", "PASSWD=%s", "-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----", `"private_key":"-----BEGIN PRIVATE KEY-----\n%s\n`,
		"-----BEGIN OPENSSH PRIVATE KEY-----\n%s", "-----BEGIN EC PRIVATE KEY-----\\n%s\\n-----END EC PRIVATE KEY-----", "sayso://x:%s@y", "?session=%s", "X-Amz-Signature=%s", "passphrase: %s",
		`url.Error{URL:"https://hooks.example.com/?token=%s"}`, "mysql://root:%s@127.0.0.1:3306/db", "smtp://me:%s@mail/", "Token: %s", "secret: '%s'",
	} {
		secret := letters(mixed, 32)
		all[fmt.Sprintf(around, secret)] = secret
	}
	return all
}

// TestCanaries is control 15: whichever way a credential comes to the log, it is not in it.
func TestCanaries(t *testing.T) {
	all := canaries()
	if len(all) < 200 {
		t.Fatalf("only %d canaries", len(all))
	}
	hits := 0
	for text, secret := range all {
		for _, format := range []string{"text", "json"} {
			var b bytes.Buffer
			log := Config{LogFormat: format, LogLevel: "debug"}.logger(&b)
			log.Info(text)
			log.Warn("w", "text", text, "err", errors.New(text), "wrapped", fmt.Errorf("call: %w", errors.New(text)))
			log.With("kept", text).WithGroup("g").Error("e", slog.Group("in", "text", text, "any", []string{text}), "bytes", []byte(text))
			log.Debug("d", "valued", secretive{text}, "struct", struct{ Text string }{text}, "map", map[string]string{"k": text})
			slog.NewLogLogger(log.Handler(), slog.LevelWarn).Print(text)
			if strings.Contains(b.String(), secret) {
				hits++
				t.Errorf("%s: %q is in\n%s", format, secret, b.String())
			}
		}
	}
	t.Logf("%d canaries, %d hits", len(all), hits)
}

// TestLogsStayReadable: what is no credential is told as it is.
func TestLogsStayReadable(t *testing.T) {
	for _, text := range []string{
		"", "listen tcp 127.0.0.1:7777: bind: address already in use", "usr_agrc3v6lwj3j3gi64cgbpa7tsm", "task-force-management-system", "https://sayso.example.com/x?y=1",
		"config: /etc/sayso.yaml: [3:5] unknown field \"aproval_policy\"", "not_found: Not found.", "wrong_state", "/projects/:project/settings/keys", "GET", "2026-11-30T12:00:00.000Z",
		"http://user@host/", "the key file does not hold an operator key; remove it", "skip the rest", "basic", "eyJ",
	} {
		var b bytes.Buffer
		Config{LogFormat: "text", LogLevel: "info"}.logger(&b).Info("m", "text", text)
		if want := fmt.Sprintf("text=%q", text); !strings.Contains(b.String(), want) && !strings.Contains(b.String(), "text="+text) {
			t.Errorf("%s", b.String())
		}
	}
}
