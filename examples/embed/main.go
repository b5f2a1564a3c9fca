// Command embed is a tiny app with two users that shows Sayso's cards to them on a page of its own. See README.md.
//
// It is what an app's back end has to do, and no more: know who is signed in, and ask Sayso for a token in their name. The key stays here.
package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

//go:embed page.html page.js
var files embed.FS

// app is the running app.
type app struct {
	sayso   string // where Sayso is: http://127.0.0.1:7777
	embedID string
	key     string // an operator key with the scope embed
	project string
	users   map[string]string // id → name: whoever this app knows
	page    *template.Template
}

func main() {
	a := app{
		sayso: cmp.Or(os.Getenv("SAYSO_URL"), "http://127.0.0.1:7777"), embedID: os.Getenv("SAYSO_EMBED_ID"), key: os.Getenv("SAYSO_EMBED_KEY"),
		project: cmp.Or(os.Getenv("SAYSO_PROJECT"), "default"),
		users:   map[string]string{"4711": "Dana", "4712": "Fox"},
		page:    template.Must(template.ParseFS(files, "page.html")),
	}
	if a.embedID == "" || a.key == "" {
		log.Fatal("set SAYSO_EMBED_ID and SAYSO_EMBED_KEY; README.md says where they come from")
	}
	l, err := net.Listen("tcp", cmp.Or(os.Getenv("LISTEN"), "localhost:8090"))
	if err != nil {
		log.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	fmt.Printf("The app is at http://localhost:%s\n", port)
	server := http.Server{Handler: a.routes(), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.Serve(l))
}

func (a app) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.show)
	mux.HandleFunc("POST /signin", a.signIn)
	mux.HandleFunc("POST /sayso-token", a.token)
	mux.HandleFunc("GET /page.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "page.js") })
	return http.NewCrossOriginProtection().Handler(mux)
}

// user is who is signed in: a real app has real sessions.
func (a app) user(r *http.Request) (id, name string) {
	c, err := r.Cookie("user")
	if err != nil || a.users[c.Value] == "" {
		return "", ""
	}
	return c.Value, a.users[c.Value]
}

func (a app) signIn(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: "user", Value: r.PostFormValue("user"), HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// show writes the page. Its policy lets in Sayso's script and frame, and nothing else from elsewhere.
func (a app) show(w http.ResponseWriter, r *http.Request) {
	_, name := a.user(r)
	w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src data:; style-src 'unsafe-inline'; script-src 'self' "+a.sayso+"; frame-src "+a.sayso)
	if err := a.page.Execute(w, map[string]any{"Name": name, "Users": a.users, "Sayso": a.sayso, "EmbedID": a.embedID}); err != nil {
		log.Print(err)
	}
}

// token asks Sayso for a token in the name of whoever is signed in, and gives it to the page.
func (a app) token(w http.ResponseWriter, r *http.Request) {
	id, name := a.user(r)
	if id == "" {
		http.Error(w, "nobody is signed in", http.StatusUnauthorized)
		return
	}
	token, err := a.vouch(r, map[string]string{"subject": id, "name": name, "origin": "http://" + r.Host})
	if err != nil {
		log.Print(err)
		http.Error(w, "no token", http.StatusBadGateway)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprint(w, token)
}

func (a app) vouch(r *http.Request, person map[string]string) (token string, err error) {
	body, err := json.Marshal(person)
	if err != nil {
		return "", err
	}
	at := strings.TrimSuffix(a.sayso, "/") + "/api/v1/orgs/default/projects/" + a.project + "/embeds/" + a.embedID + "/tokens"
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodPost, at, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	ask.Header.Set("Authorization", "Bearer "+a.key)
	ask.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var made struct{ Token, Error string }
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&made); err != nil {
		return "", err
	}
	if made.Token == "" {
		return "", fmt.Errorf("%s: %s", answer.Status, made.Error)
	}
	return made.Token, nil
}
