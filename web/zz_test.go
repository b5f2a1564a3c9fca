package web_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"

	"sayso/internal/api"
)

func TestProbeValidator(t *testing.T) {
	start := time.Now()
	doc, err := libopenapi.NewDocument(api.Document)
	must(t, err)
	v, errs := validator.NewValidator(doc, config.WithFormatAssertions(), config.WithStrictMode())
	if errs != nil {
		t.Fatal(errs)
	}
	t.Log("built", time.Since(start))
	ok, ve := v.ValidateDocument()
	t.Log(ok, len(ve))
	for _, e := range ve {
		t.Log(e)
	}
	s := newSite(t)
	_, path := s.newAgent("swe")
	i, at := s.asks(path, bash)
	_ = i
	try := func(method, path, body string, a answer) {
		req, _ := http.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+s.operator)
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		resp := &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), Request: req}
		start := time.Now()
		ok, ve := v.ValidateHttpRequestResponse(req, resp)
		t.Log(method, path[max(0, len(path)-40):], a.status, ok, time.Since(start))
		for _, e := range ve {
			t.Log("   ", e.Message, "|", e.Reason, "|", e.ValidationType, e.ValidationSubType)
			for _, x := range e.SchemaValidationErrors {
				t.Log("       ", x.Reason, x.KeywordLocation, x.FieldPath)
			}
		}
	}
	for range 3 {
		try("GET", at, "", s.call(s.operator, "GET", at, ""))
	}
	try("GET", project+"/interactions?limit=5", "", s.call(s.operator, "GET", project+"/interactions?limit=5", ""))
	try("GET", "/api/v1/me", "", s.call(s.operator, "GET", "/api/v1/me", ""))
	try("POST", at+"/resolve", `{"answers":[{"option_indices":[1],"text":"x"}]}`, s.call(s.operator, "POST", at+"/resolve", `{"answers":[{"option_indices":[1],"text":"x"}]}`))
	try("POST", at+"/resolve", `{"answers":[{"option_indices":[1],"text":"y"}]}`, s.call(s.operator, "POST", at+"/resolve", `{"answers":[{"option_indices":[1],"text":"y"}]}`))
	try("POST", at+"/resolve", `{"answers":[{"option_indices":[1],"text":"x"}]}`, s.call(s.operator, "POST", at+"/resolve", `{"answers":[{"option_indices":[1],"text":"x"}]}`))
	try("POST", path+"/interactions", bash, s.call(s.agent, "POST", path+"/interactions", bash))
	q := `{"request":{"title":"T","questions":[{"prompt":"p","options":[{"label":"a"}]}]}}`
	try("POST", path+"/interactions", q, s.call(s.agent, "POST", path+"/interactions", q))
	try("GET", at, "", s.call(s.agent, "GET", at, ""))
	try("GET", project+"/agents", "", s.call(s.operator, "GET", project+"/agents", ""))
	try("GET", project+"/agents?limit=0", "", s.call(s.operator, "GET", project+"/agents?limit=0", ""))
	try("GET", project+"/agents?bogus=0", "", s.call(s.operator, "GET", project+"/agents?bogus=0", ""))
	try("POST", project+"/agents", `{"name":"x","bogus":1}`, s.call(s.operator, "POST", project+"/agents", `{"name":"x","bogus":1}`))
	try("POST", at+"/cancel", ``, s.call(s.agent, "POST", at+"/cancel", ``))
	try("POST", at+"/cancel", `{}`, s.call(s.agent, "POST", at+"/cancel", `{}`))
	try("GET", "/api/openapi.yaml", ``, s.call(s.agent, "GET", "/api/openapi.yaml", ``))
	try("GET", "/healthz", ``, s.call(s.agent, "GET", "/healthz", ``))
	try("GET", "/readyz", ``, s.call(s.agent, "GET", "/readyz", ``))
	bad := s.call(s.operator, "GET", at, "")
	bad.body = bytes.Replace(bad.body, []byte(`"delivery"`), []byte(`"x":1,"deliverx"`), 1)
	try("GET", at, "", bad)
	bad = s.call(s.operator, "GET", at, "")
	bad.status = 202
	try("GET", at, "", bad)
}
