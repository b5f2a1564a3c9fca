package server

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"sayso/internal/auth"
	"sayso/internal/egress"
	"sayso/internal/interaction"
	"sayso/internal/oidc"
	"sayso/web"
)

// fileOIDC is the provider that signs people in, as the file has it.
type fileOIDC struct {
	Issuer           fileText    `yaml:"issuer"`
	ClientID         fileText    `yaml:"client_id"`
	ClientSecret     fileText    `yaml:"client_secret"`
	ClientSecretFile fileText    `yaml:"client_secret_file"`
	Name             fileText    `yaml:"name"`
	Scopes           fileList    `yaml:"scopes"`
	GroupsClaim      fileText    `yaml:"groups_claim"`
	Roles            []fileGroup `yaml:"roles"`
}

type fileGroup struct {
	Group   fileText `yaml:"group"`
	Project fileText `yaml:"project"`
	Role    fileText `yaml:"role"`
}

type fileEgress struct {
	Allow fileList `yaml:"allow"`
}

// OIDC is the provider that signs people in.
type OIDC struct {
	Issuer, ClientID, ClientSecret string
	Name                           string // on the button
	Scopes                         []string
	GroupsClaim                    string
	Roles                          []auth.GroupRole
}

// overlay has the environment beat what the file says: SAYSO_OIDC_ISSUER and so on. Roles are in the file only.
func (f *fileOIDC) overlay(lookup func(string) (string, bool)) (given bool) {
	for name, into := range map[string]*fileText{
		"ISSUER": &f.Issuer, "CLIENT_ID": &f.ClientID, "CLIENT_SECRET": &f.ClientSecret, "CLIENT_SECRET_FILE": &f.ClientSecretFile,
		"NAME": &f.Name, "GROUPS_CLAIM": &f.GroupsClaim,
	} {
		if v, ok := lookup("SAYSO_OIDC_" + name); ok {
			*into, given = fileText{text: v}, true
		}
	}
	if v, ok := lookup("SAYSO_OIDC_SCOPES"); ok {
		f.Scopes, given = nil, true
		for _, scope := range split(v) {
			f.Scopes = append(f.Scopes, fileText{text: scope})
		}
	}
	return given
}

// check says what is wrong with what was written. What may yet come from the environment is not missed.
func (f *fileOIDC) check() error {
	if f.Issuer.text != "" && !issuerAllowed(f.Issuer.text) {
		return f.Issuer.fail("oidc: issuer: %q is not an address of https://, without query; http:// is allowed on this machine only", withoutSecret(f.Issuer.text))
	}
	if f.ClientSecret.text != "" && f.ClientSecretFile.text != "" {
		return f.ClientSecretFile.fail("oidc: client_secret and client_secret_file: give one of them")
	}
	for n, scope := range f.Scopes {
		if scope.text == "" || strings.ContainsAny(scope.text, " \t\n") {
			return scope.fail("oidc: scopes: item %d is not a name without blanks", n+1)
		}
	}
	for _, g := range f.Roles {
		if err := g.check(); err != nil {
			return err
		}
	}
	return nil
}

func (g fileGroup) check() error {
	at := firstPlace(g.Group, g.Project, g.Role)
	if g.Group.text == "" || g.Project.text == "" {
		return at.fail("oidc: roles: each needs group, project and role")
	}
	if !slices.Contains(interaction.Roles, interaction.Role(g.Role.text)) {
		return firstPlace(g.Role, at).fail("oidc: roles: role: %q is unknown; allowed are viewer, approver, lead and admin", g.Role.text)
	}
	return nil
}

// summary tells whether two are the same; it holds the secret.
func (f *fileOIDC) summary() string {
	all := []string{f.Issuer.text, f.ClientID.text, f.ClientSecret.text, f.ClientSecretFile.text, f.Name.text, f.GroupsClaim.text}
	all = append(all, f.Scopes.plain()...)
	for _, g := range f.Roles {
		all = append(all, g.Group.text, g.Project.text, g.Role.text)
	}
	return fmt.Sprintf("%q", all)
}

// firstPlace is the first of some texts that stands anywhere.
func firstPlace(texts ...fileText) fileText {
	for _, t := range texts {
		if t.at != nil {
			return t
		}
	}
	return fileText{}
}

// issuerAllowed: what the provider says is only as good as the way to it.
func issuerAllowed(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())
}

// settled is the provider once file and environment are known.
func (f *fileOIDC) settled() (*OIDC, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.Issuer.text == "" || f.ClientID.text == "" {
		return nil, errors.New("oidc: issuer and client_id must be given (or SAYSO_OIDC_ISSUER and SAYSO_OIDC_CLIENT_ID)")
	}
	u, _ := url.Parse(f.Issuer.text)
	o := &OIDC{
		Issuer: f.Issuer.text, ClientID: f.ClientID.text, ClientSecret: f.ClientSecret.text, Name: cmp.Or(f.Name.text, u.Hostname()),
		Scopes: f.Scopes.plain(), GroupsClaim: cmp.Or(f.GroupsClaim.text, "groups"),
	}
	if f.Scopes == nil {
		o.Scopes = []string{"profile", "email"}
	}
	for _, g := range f.Roles {
		o.Roles = append(o.Roles, auth.GroupRole{Group: g.Group.text, Project: g.Project.text, Role: interaction.Role(g.Role.text)})
	}
	var err error
	if path := f.ClientSecretFile.text; path != "" {
		o.ClientSecret, err = readSecret(path)
	}
	return o, err
}

const secretMost = 4 << 10

func readSecret(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("oidc: client_secret_file: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, secretMost+1))
	if text = bytes.TrimSpace(text); err != nil || len(text) == 0 || len(text) > secretMost {
		return "", fmt.Errorf("oidc: client_secret_file: %s must hold the secret and nothing else, at most %d bytes", path, secretMost)
	}
	return string(text), nil
}

// prefixes are the blocks of addresses that may be called although they are not public.
func (f *fileEgress) prefixes() (all []netip.Prefix, err error) {
	for n, t := range f.Allow {
		prefix, err := netip.ParsePrefix(t.text)
		if err != nil {
			return nil, t.fail("egress: allow: item %d, %q, is not a block of addresses; give one like 10.1.0.0/16", n+1, t.text)
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

// callingOut reads what the file and the environment say of calls out.
func (c *Config) callingOut(f fileConfig, lookup func(string) (string, bool)) (err error) {
	written, guard := f.OIDC, f.Egress
	if written == nil {
		written = &fileOIDC{}
	}
	if written.overlay(lookup) || f.OIDC != nil {
		if c.OIDC, err = written.settled(); err != nil {
			return err
		}
	}
	if guard == nil {
		guard = &fileEgress{}
	}
	if v, ok := lookup("SAYSO_EGRESS_ALLOW"); ok {
		guard = &fileEgress{}
		for _, block := range split(v) {
			guard.Allow = append(guard.Allow, fileText{text: block})
		}
	}
	c.Egress, err = guard.prefixes()
	return err
}

// checkOIDC: providers send people back to one address, which they must be told exactly.
func (c *Config) checkOIDC() error {
	if c.OIDC != nil && c.PublicURL == "" {
		return errors.New("oidc: needs public-url, for example https://sayso.example.com; the provider sends people back there")
	}
	return nil
}

// provider is the provider as the pages use it; nil when there is none.
func (c *Config) provider() *web.Provider {
	o := c.OIDC
	if o == nil {
		return nil
	}
	return &web.Provider{Name: o.Name, Roles: o.Roles, Client: oidc.New(oidc.Config{
		Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, Scopes: o.Scopes, GroupsClaim: o.GroupsClaim,
		RedirectURL: c.PublicURL + c.BasePath + web.OIDCCallback, HTTP: egress.NewClient(egress.Config{Allow: c.Egress}), Now: time.Now,
	})}
}
