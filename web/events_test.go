package web_test

import "sayso/internal/api"

// lifecycle is the lifecycle log of the project, behind a query that bounds it.
func (s *site) lifecycle(query string) []api.LifecycleEvent {
	s.t.Helper()
	return events[api.LifecycleEvent](s.t, s.call(s.operator, "GET", project+"/events?limit=500"+query, "")).Data
}
