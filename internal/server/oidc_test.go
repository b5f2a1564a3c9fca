package server

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/auth"
)

const providerFile = `public_url: https://sayso.example.com
oidc:
  issuer: https://id.example.com/realm
  client_id: sayso
  client_secret: "s3cret"
  name: Acme
  scopes: [profile, groups]
  groups_claim: roles
  roles:
    - {group: devs, project: default, role: approver}
    - {group: ops, project: web, role: admin}
egress:
  allow: ["10.1.2.3/16", "fd00::/8"]
`

func loaded(t *testing.T, text string) (Config, error) {
	t.Helper()
	c := Default()
	err := c.Load(given(map[string]string{"config": write(t, text), "data": "/tmp/x"}))
	return c, err
}

func TestProviderInFile(t *testing.T) {
	c, err := loaded(t, providerFile)
	if err != nil {
		t.Fatal(err)
	}
	want := &OIDC{
		Issuer: "https://id.example.com/realm", ClientID: "sayso", ClientSecret: "s3cret", Name: "Acme", Scopes: []string{"profile", "groups"}, GroupsClaim: "roles",
		Roles: []auth.GroupRole{{Group: "devs", Project: "default", Role: "approver"}, {Group: "ops", Project: "web", Role: "admin"}},
	}
	if diff := cmp.Diff(want, c.OIDC); diff != "" {
		t.Error(diff)
	}
	if len(c.Egress) != 2 || c.Egress[0] != netip.MustParsePrefix("10.1.0.0/16") {
		t.Errorf("%v", c.Egress)
	}
	if c.provider() == nil {
		t.Error("there is no provider")
	}
	if c, err = loaded(t, "listen: 127.0.0.1:1\n"); err != nil || c.OIDC != nil || c.provider() != nil || c.Egress != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestProviderInEnvironment: it beats the file, and is enough without one. A secret may lie in a file of its own.
func TestProviderInEnvironment(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SAYSO_OIDC_ISSUER", "https://other.example.com")
	t.Setenv("SAYSO_OIDC_CLIENT_ID", "id")
	t.Setenv("SAYSO_OIDC_SCOPES", "email, groups")
	t.Setenv("SAYSO_EGRESS_ALLOW", "127.0.0.0/8")
	c, err := loaded(t, "public_url: https://sayso.example.com\noidc: {issuer: 'https://id.example.com', client_secret_file: '"+secret+"'}\n")
	want := &OIDC{Issuer: "https://other.example.com", ClientID: "id", ClientSecret: "from a file", Name: "other.example.com", Scopes: []string{"email", "groups"}, GroupsClaim: "groups"}
	if err != nil || cmp.Diff(want, c.OIDC) != "" || len(c.Egress) != 1 {
		t.Errorf("%v %s", err, cmp.Diff(want, c.OIDC))
	}
	if c, err = loaded(t, "public_url: https://sayso.example.com\n"); err != nil || c.OIDC == nil || c.OIDC.ClientSecret != "" {
		t.Errorf("%+v, %v", c.OIDC, err)
	}
}

// TestBadProviders: one line that says where, why and what is allowed, and never the secret.
func TestBadProviders(t *testing.T) {
	change := func(from, to string) string { return strings.Replace(providerFile, from, to, 1) }
	for text, says := range map[string]string{
		change("https://id.example.com/realm", "http://id.example.com"):        "[3:11] oidc: issuer: \"http://id.example.com\" is not an address of https://",
		change("https://id.example.com/realm", "https://u:pw@id.example.com"):  "oidc: issuer: ",
		change("  client_id: sayso\n", ""):                                     "issuer and client_id must be given",
		change("  name: Acme\n", "  nmae: Acme\n"):                             `[6:3] unknown field "nmae"`,
		change("role: approver", "role: owner"):                                `[10:45] oidc: roles: role: "owner" is unknown; allowed are viewer, approver, lead and admin`,
		change("group: devs, ", ""):                                            "oidc: roles: each needs group, project and role",
		change("[profile, groups]", `["profile groups"]`):                      "oidc: scopes: item 1 is not a name without blanks",
		change("10.1.2.3/16", "10.1.2.3"):                                      `egress: allow: item 1, "10.1.2.3", is not a block of addresses`,
		change("  name: Acme\n", "  client_secret_file: /x\n"):                 "oidc: client_secret and client_secret_file: give one of them",
		change(`client_secret: "s3cret"`, "client_secret_file: /no/such/file"): "oidc: client_secret_file: open /no/such/file",
		change("public_url: https://sayso.example.com\n", ""):                  "oidc: needs public-url",
		change(`"s3cret"`, "123"):                                              "[5:18] must be text; put it in quotes",
	} {
		_, err := loaded(t, text)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), ":pw@") {
			t.Errorf("%v\nwant %s", err, says)
		}
	}
}
