package web_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	"github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"sayso/internal/api"
)

// Every call of these tests is held against the OpenAPI document: see keepsContract. So whatever a test sends and gets, the document
// describes; and what the document promises to take is taken.

// openapi is the document, read once.
var openapi = sync.OnceValue(func() *contract {
	document, err := libopenapi.NewDocument(api.Document)
	if err != nil {
		panic(err)
	}
	model, err := document.BuildV3Model()
	if err != nil {
		panic(err)
	}
	v, errs := validator.NewValidator(document, strictly...)
	if errs != nil {
		panic(errs)
	}
	return &contract{model: &model.Model, validator: v}
})

// strictly has undeclared fields, parameters and headers reported, but for what belongs to agents and what every response carries.
var strictly = []config.Option{
	config.WithFormatAssertions(),
	config.WithStrictMode(),
	config.WithStrictIgnorePaths("$.body.**metadata**", "$.body.**tool_call.input**", "$.body.**content_blocks**.input**", "$.body.tool_calls**.input**", "$.body.data**.input**", "$.body.data**.approval_policy.tools**", "$.body.suggestions**", "$.body.**updated_input**", "$.body.**updated_permissions**"),
	config.WithStrictIgnoredHeadersExtra("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"),
}

type contract struct {
	model     *v3.Document
	validator validator.Validator
	checked   sync.Map   // by SHA-256
	mu        sync.Mutex // the validator makes what it needs of a schema at first use, and not for several at once
}

// keepsContract checks one exchange. A request is checked when the server took no offence at its shape: then neither may the document.
// What is loose is more than the document promises to take.
func (s *site) keepsContract(sent *http.Request, body string, got answer, loose bool) {
	s.t.Helper()
	if !described(sent.URL.Path) || strings.Contains(body, beyondFloat) || bytes.Contains(got.body, []byte(beyondFloat)) {
		return
	}
	if got.code() != "" {
		wellFormedError(s.t, sent, got)
	}
	loose = loose || slices.Contains([]string{"validation_failed", "invalid_request", "request_too_large", "unauthorized"}, got.code())
	for _, p := range openapi().check(sent, body, got, loose) {
		if p.ValidationType == "path" && got.code() == "not_found" {
			return // no such route
		}
		s.t.Errorf("openapi.yaml disagrees: %s: %s%s\n%s %s %.200s: %d %.200s", p.Message, p.Reason, reasons(p), sent.Method, sent.URL.RequestURI(), body, got.status, got.body)
	}
}

// beyondFloat is a number that we keep and that the validator, which reads numbers as floats, cannot read.
const beyondFloat = "1e9999"

// described says whether the document has to say something about a path.
func described(path string) bool {
	return strings.HasPrefix(path, "/api/") || path == "/healthz" || path == "/readyz"
}

// check gives what is wrong with the response, and unless it is loose, with the request.
func (c *contract) check(sent *http.Request, body string, got answer, loose bool) (problems []*errors.ValidationError) {
	request := sent.Clone(sent.Context())
	request.Body = io.NopCloser(strings.NewReader(body))
	if c.first("response", sent.Method, sent.URL, got.status, string(got.body), got.header["Idempotent-Replayed"]) {
		response := &http.Response{StatusCode: got.status, Header: got.header, Body: io.NopCloser(bytes.NewReader(got.body)), Request: request}
		problems = c.alone(func() (bool, []*errors.ValidationError) { return c.validator.ValidateHttpResponse(request, response) })
	}
	if len(problems) == 0 && !loose && c.first("request", sent.Method, sent.URL, body, sent.Header["Idempotency-Key"], sent.Header["Sayso-Channel"]) {
		problems = c.alone(func() (bool, []*errors.ValidationError) { return c.validator.ValidateHttpRequestSync(request) })
	}
	return problems
}

// alone has the validator do one thing after the other.
func (c *contract) alone(validate func() (bool, []*errors.ValidationError)) []*errors.ValidationError {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, problems := validate()
	return problems
}

// first says whether this was not looked at before, so that a race of equal ones costs little.
func (c *contract) first(what ...any) bool {
	_, known := c.checked.LoadOrStore(sha256.Sum256(fmt.Appendf(nil, "%q", what)), true)
	return !known
}

func reasons(p *errors.ValidationError) string {
	var b strings.Builder
	for _, s := range p.SchemaValidationErrors {
		fmt.Fprintf(&b, "; %s at %s", s.Reason, s.FieldPath)
	}
	return b.String()
}

// statusOf is the one status of each code.
var statusOf = map[string]int{
	"validation_failed": 400, "invalid_request": 400, "unauthorized": 401, "forbidden": 403, "not_found": 404, "conflict": 409,
	"idempotency_key_conflict": 409, "state_transition_conflict": 409, "request_too_large": 413, "rate_limited": 429, "service_unavailable": 503,
}

// wellFormedError checks that a failure is exactly an error and a code, with an interaction if it is about one that ended.
func wellFormedError(t testing.TB, sent *http.Request, got answer) {
	t.Helper()
	var body map[string]json.RawMessage
	must(t, json.Unmarshal(got.body, &body))
	fields := []string{"code", "error"}
	if about := regexp.MustCompile(`/interactions/[^/]+/(resolve|cancel)$`); got.status == http.StatusConflict && about.MatchString(sent.URL.Path) {
		fields = append(fields, "interaction")
	}
	have := slices.Sorted(maps.Keys(body))
	if !slices.Equal(have, fields) || statusOf[got.code()] != got.status || got.message() == "" {
		t.Errorf("%s %s: %d %s: want the fields %v and the status of the code", sent.Method, sent.URL, got.status, got.body, fields)
	}
}

// TestDocumentIsOpenAPI checks the document against the OpenAPI 3.1 schema, and each of its schemas as a schema.
func TestDocumentIsOpenAPI(t *testing.T) {
	c := openapi()
	if ok, problems := c.validator.ValidateDocument(); !ok {
		for _, p := range problems {
			t.Errorf("%s: %s%s", p.Message, p.Reason, reasons(p))
		}
	}
	if c.model.Version != "3.1.0" {
		t.Errorf("version %s", c.model.Version)
	}
}

// TestNoFieldHasADefault checks that the document gives no default to a field of a body: generators make of it one that must be given.
func TestNoFieldHasADefault(t *testing.T) {
	_, schemas, _ := bytes.Cut(api.Document, []byte("\n  schemas:\n"))
	if at := bytes.Index(schemas, []byte("default:")); at >= 0 || len(schemas) == 0 {
		t.Errorf("say it in the description: …%.100s", schemas[max(at, 0):])
	}
}

// TestDocumentedRoutes checks that what the server answers and what the document describes are the same.
func TestDocumentedRoutes(t *testing.T) {
	answered := map[string]bool{}
	for _, r := range newSite(t).pages.Routes() {
		if described(r.Path) {
			answered[r.Method+" "+template(r.Path)] = true
		}
	}
	documented := map[string]bool{}
	for path, item := range openapi().model.Paths.PathItems.FromOldest() {
		for method := range item.GetOperations().FromOldest() {
			documented[strings.ToUpper(method)+" "+path] = true
		}
	}
	if diff := cmp.Diff(answered, documented); diff != "" {
		t.Errorf("routes (-answered +documented):\n%s", diff)
	}
}

// template is a path of Echo's as OpenAPI writes it.
func template(path string) string {
	return regexp.MustCompile(`:(\w+)`).ReplaceAllString(path, "{${1}ID}")
}

// TestDocumentedOperations checks what client generators need: a name of its own for each operation, and named schemas.
func TestDocumentedOperations(t *testing.T) {
	names := map[string]bool{}
	for path, item := range openapi().model.Paths.PathItems.FromOldest() {
		for method, o := range item.GetOperations().FromOldest() {
			if !regexp.MustCompile(`^[a-z][A-Za-z]+$`).MatchString(o.OperationId) || names[o.OperationId] {
				t.Errorf("%s %s: operationId %q", method, path, o.OperationId)
			}
			names[o.OperationId] = true
			if o.Summary == "" || len(o.Tags) != 1 {
				t.Errorf("%s: summary %q, tags %v", o.OperationId, o.Summary, o.Tags)
			}
			for place, content := range contents(o) {
				if content.Schema.IsReference() == strings.HasPrefix(place, "text") {
					t.Errorf("%s %s: the schema must have a name", o.OperationId, place)
				}
			}
		}
	}
}

// contents are the bodies of an operation, by place and media type.
func contents(o *v3.Operation) map[string]*v3.MediaType {
	all := map[string]*v3.MediaType{}
	if o.RequestBody != nil {
		for kind, content := range o.RequestBody.Content.FromOldest() {
			all["request "+kind] = content
		}
	}
	for status, response := range o.Responses.Codes.FromOldest() {
		for kind, content := range response.Content.FromOldest() {
			if kind == "application/json" {
				all[status+" "+kind] = content
			}
		}
	}
	return all
}

// TestDocumentedExamples holds every example of the document against the schema beside it, and their digest against what they ask.
func TestDocumentedExamples(t *testing.T) {
	c := openapi()
	schemas := schema_validation.NewSchemaValidator()
	n, digested := 0, 0
	check := func(place string, schema *base.SchemaProxy, node any) {
		n++
		text, err := json.Marshal(node)
		must(t, err)
		if ok, problems := schemas.ValidateSchemaBytesWithVersion(schema.Schema(), text, 3.1); !ok {
			for _, p := range problems {
				t.Errorf("example at %s: %s%s", place, p.Reason, reasons(p))
			}
		}
	}
	for name, schema := range c.model.Components.Schemas.FromOldest() {
		if example := schema.Schema().Example; example != nil {
			var value any
			must(t, example.Decode(&value))
			check("schemas/"+name, schema, value)
		}
	}
	for _, item := range c.model.Paths.PathItems.FromOldest() {
		for _, o := range item.GetOperations().FromOldest() {
			for place, content := range contents(o) {
				for name, example := range examples(t, content) {
					check(o.OperationId+" "+place+" "+name, content.Schema, example)
					digested += rightDigest(t, example)
				}
			}
		}
	}
	if n < 30 || digested < 3 {
		t.Errorf("only %d examples were found, %d of them with a digest", n, digested)
	}
}

// rightDigest is 1 for an example of an interaction, whose digest must be right, and 0 for others.
func rightDigest(t *testing.T, example any) int {
	t.Helper()
	text, err := json.Marshal(example)
	must(t, err)
	var i api.Interaction
	if json.Unmarshal(text, &i) != nil || i.ToolCall == nil || i.Digest == "" {
		return 0
	}
	if want := digestOf(t, i.Kind, rawAt(t, text, "request"), i.ToolCall.Name, string(i.ToolCall.Input)); i.Digest != want {
		t.Errorf("the example %s has the digest %s", i.ID, want)
	}
	return 1
}

func examples(t *testing.T, content *v3.MediaType) map[string]any {
	t.Helper()
	all := map[string]any{}
	if content.Example != nil {
		var value any
		must(t, content.Example.Decode(&value))
		all["example"] = value
	}
	for name, example := range content.Examples.FromOldest() {
		var value any
		must(t, example.Value.Decode(&value))
		all[name] = value
	}
	return all
}

// TestDocumentIsServed checks that anybody gets the document.
func TestDocumentIsServed(t *testing.T) {
	got := newSite(t).call("", "GET", "/api/openapi.yaml", "")
	if got.status != http.StatusOK || !bytes.Equal(got.body, api.Document) || got.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("%d, %s, %d bytes", got.status, got.header.Get("Content-Type"), len(got.body))
	}
}
