package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
	"sayso/web"
)

// withCommand has pages and events name the program as it is called in the tests.
func withCommand(c *web.Config) { c.Command = "sayso2" }

// puts stores an external person.
func (s *site) puts(status int, body string) api.StoredActor {
	s.t.Helper()
	a := s.call(s.operator, "PUT", project+"/actors", body)
	if a.status != status {
		s.t.Errorf("%s: %d %s, want %d", body, a.status, a.body, status)
	}
	var stored api.ActorBody
	read(s.t, a, &stored)
	return stored.Actor
}

// TestActors checks how external people are stored, known again and found.
func TestActors(t *testing.T) {
	s := newSite(t)
	made := s.puts(201, `{"provider_user_id":" U1 ","provider_tenant_id":" T1 ","display_name":" Dana ","metadata":{"team":"platform"}}`)
	want := api.StoredActor{
		ID: made.ID, ProjectID: string(s.project.ID), ProviderUserID: "U1", ProviderTenantID: "T1", DisplayName: "Dana",
		Metadata: map[string]string{"team": "platform"}, CreatedAt: api.Time{Time: s.clock.Now()},
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.clock.Advance(time.Second)
	for _, c := range []struct {
		body   string
		change func()
	}{
		{`{"provider_user_id":"U1","provider_tenant_id":"T1"}`, func() {}},
		{`{"provider_user_id":"U1","provider_tenant_id":"T1","display_name":"Dana S."}`, func() { want.DisplayName = "Dana S." }},
		{`{"provider_user_id":"U1","provider_tenant_id":"T1","metadata":{"floor":"3"}}`, func() { want.Metadata = map[string]string{"floor": "3"} }},
	} {
		c.change()
		if diff := cmp.Diff(want, s.puts(200, c.body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.body, diff)
		}
	}
	var got api.ActorBody
	read(t, s.call(s.operator, "GET", project+"/actors/"+made.ID, ""), &got)
	if diff := cmp.Diff(want, got.Actor); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if same := s.puts(201, `{"provider_user_id":"U1"}`); same.ID == made.ID || same.DisplayName != "" || same.Metadata != nil {
		t.Errorf("without a tenant it is somebody else: %+v", same)
	}
	if other := s.puts(201, `{"provider_user_id":"U1","provider_tenant_id":"T2"}`); other.ID == made.ID {
		t.Errorf("in another tenant it is somebody else: %+v", other)
	}
	if in := s.sends(askable(s), said("Hi.", `,"actor":{"provider_user_id":"U1","provider_tenant_id":"T1"}`)); in.ActorID != made.ID {
		t.Errorf("a message for them is by %s, want %s", in.ActorID, made.ID)
	}
	second := s.secondProject()
	for name, at := range map[string]string{
		"unknown":         project + "/actors/actr_" + repeated("a", 26),
		"another project": "/api/v1/orgs/default/projects/" + second.project + "/actors/" + made.ID,
	} {
		s.refusal(name, "not_found", "", func() answer { return s.call(s.operator, "GET", at, "") })
	}
	for body, says := range map[string]string{`{"provider_user_id":" "}`: "provider_user_id:", `{"provider_user_id":"U","display_name":" "}`: "display_name:", `{"provider_user_id":"U","metadata":{"":"x"}}`: "metadata"} {
		if got := s.call(s.operator, "PUT", project+"/actors", body); !strings.HasPrefix(got.message(), says) {
			t.Errorf("%s: %d %s, want the error to begin with %s", body, got.status, got.body, says)
		}
	}
	s.refusal("malformed", "validation_failed", "actor: ", func() answer { return s.call(s.operator, "GET", project+"/actors/x", "") })
}

// TestActorPages walks the list of external people.
func TestActorPages(t *testing.T) {
	s := newSite(t)
	var places []string
	for n := range 7 {
		if n%2 == 0 {
			s.clock.Advance(time.Millisecond)
		}
		places = append(places, s.place(s.puts(201, fmt.Sprintf(`{"provider_user_id":"U%d"}`, n)).ID))
	}
	s.clock.Advance(time.Second)
	s.puts(200, `{"provider_user_id":"U3","display_name":"Late"}`) // stays where it is
	walk(t, s, project+"/actors?", ordered(places), func(a api.StoredActor) string { return a.ID })
}
