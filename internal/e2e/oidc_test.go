package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/internal/server"
)

// provider is an OpenID provider on another origin, which sends everybody on to another address of its own before it says yes, as real ones do.
func provider(t *testing.T) (issuer string) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	library := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}}}
	var nonces sync.Map
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	library.SetIssuer(s.URL)
	mux.Handle("/", library)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		code := rand.Text()
		nonces.Store(code, q.Get("nonce"))
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	}))
	t.Cleanup(elsewhere.Close)
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/?"+r.URL.RawQuery, http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		nonce, _ := nonces.LoadAndDelete(r.FormValue("code"))
		claims := fmt.Sprintf(`{"iss":%q,"aud":"sayso","sub":"u1","name":"Sam Doe","groups":["devs"],"nonce":%q,"exp":%d}`, s.URL, nonce, time.Now().Add(time.Hour).Unix())
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"access_token": "x", "token_type": "Bearer", "id_token": oidctest.SignIDToken(key, "k", oidc.RS256, claims)})
	})
	return s.URL
}

// TestSignInWithProvider goes the whole way in a browser: out under the policy of our pages, and back with the cookie that it left with.
func TestSignInWithProvider(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := l.Addr().String()
	must(t, l.Close())
	p := start(t, func(c *server.Config) {
		c.Listen, c.PublicURL, c.Egress = address, "http://"+address, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.OIDC = &server.OIDC{
			Issuer: provider(t), ClientID: "sayso", Name: "Acme", GroupsClaim: "groups",
			Roles: []auth.GroupRole{{Group: "devs", Project: "default", Role: interaction.Viewer}},
		}
	})
	v := p.visit(desktop)
	v.mayComplain("^asked elsewhere: http://127.0.0.1:[0-9]+/.*client_id=sayso") // the provider
	v.goTo("/signin")
	v.isAccessible()
	v.run("document.querySelector('form[action$=\"/signin/oidc\"] button').click()")
	v.sees(shows("h1", "Inbox"))
	v.expect(shows(".account .rail-name", "Sam Doe"))
	v.isAccessible()
	v.run("history.back()")
	v.sees("location.pathname === '/' && " + shows("h1", "Inbox"))
}
