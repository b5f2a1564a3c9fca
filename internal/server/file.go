package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"sayso/internal/policy"
)

// fileConfig is the configuration file: the settings, by their names, and what was written down about agents.
type fileConfig struct {
	Listen       *string  `yaml:"listen"`
	Data         *string  `yaml:"data"`
	Database     *string  `yaml:"database"`
	BasePath     *string  `yaml:"base_path"`
	PublicURL    *string  `yaml:"public_url"`
	AllowedHosts []string `yaml:"allowed_hosts"`
	LogFormat    *string  `yaml:"log_format"`
	LogLevel     *string  `yaml:"log_level"`

	OIDC   *fileOIDC   `yaml:"oidc"`
	Egress *fileEgress `yaml:"egress"`

	Agents   map[string]fileAgent   `yaml:"agents"` // of the project default
	Projects map[string]fileProject `yaml:"projects"`
}

type fileProject struct {
	Agents map[string]fileAgent `yaml:"agents"`
}

type fileAgent struct {
	PermissionMode fileText            `yaml:"permission_mode"`
	ApprovalPolicy *filePolicy         `yaml:"approval_policy"`
	Tools          map[string]fileTool `yaml:"tools"` // where Omnara's profiles have them
}

type filePolicy struct {
	AutoAllow  fileList            `yaml:"auto_allow"`
	AutoDeny   fileList            `yaml:"auto_deny"`
	Default    fileText            `yaml:"default"`
	InputRules []fileInputRule     `yaml:"input_rules"`
	Tools      map[string]fileTool `yaml:"tools"`
}

type fileInputRule struct {
	Tool  fileText `yaml:"tool"`
	Field fileText `yaml:"field"`
	Deny  fileList `yaml:"deny"`
	Allow fileList `yaml:"allow"`
}

type fileTool struct {
	Permission struct {
		Mode fileText `yaml:"mode"`
	} `yaml:"permission"`
}

// fileText is a text, and where it stands. YAML would also make one of 010, which is 8 to it, or of nothing at all.
type fileText struct {
	text string
	at   *token.Token // nil: it is not there
}

// UnmarshalYAML takes text only.
func (t *fileText) UnmarshalYAML(n ast.Node) error {
	t.at = n.GetToken()
	switch n := n.(type) {
	case *ast.StringNode:
		t.text = n.Value
		return nil
	case *ast.LiteralNode:
		t.text = n.Value.Value
		return nil
	case *ast.AnchorNode:
		return t.UnmarshalYAML(n.Value)
	}
	return t.fail("must be text; put it in quotes")
}

func (t fileText) fail(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if t.at == nil {
		return err
	}
	return &yaml.SyntaxError{Message: err.Error(), Token: t.at}
}

const fileMost = 1 << 20

// readFile reads a configuration file. What is wrong with it is told in one line, with line and column where they are known.
func readFile(path string) (f fileConfig, err error) {
	if path == "" {
		return f, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return f, fmt.Errorf("config: %w", err)
	}
	if err := f.parse(text); err != nil {
		return fileConfig{}, fmt.Errorf("config: %s: %s", path, oneLine(err))
	}
	return f, nil
}

// oneLine is what an error says, without an excerpt of the file: it may hold secrets.
func oneLine(err error) string {
	said := strings.TrimSpace(yaml.FormatError(err, false, false))
	if strings.Contains(said, "could not find alias") {
		said += "; a pattern that begins with * needs quotes"
	}
	return strings.Join(strings.Fields(said), " ")
}

// parse reads the text of a file. An unknown or repeated key is an error, and so is a second document.
func (f *fileConfig) parse(text []byte) error {
	if len(text) > fileMost {
		return fmt.Errorf("%d bytes are too many; at most %d are allowed", len(text), fileMost)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	if err := dec.Decode(f); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := dec.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return errors.New("only one YAML document is allowed")
	}
	if f.OIDC != nil {
		if err := f.OIDC.check(); err != nil {
			return err
		}
	}
	if f.Egress != nil {
		if _, err := f.Egress.prefixes(); err != nil {
			return err
		}
	}
	_, err := f.policies()
	return err
}

// values are the settings that the file holds.
func (f fileConfig) values() map[string]string {
	out := map[string]string{}
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		name := strings.ReplaceAll(v.Type().Field(i).Tag.Get("yaml"), "_", "-")
		switch field := v.Field(i).Interface().(type) {
		case *string:
			if field != nil {
				out[name] = *field
			}
		case []string:
			if field != nil {
				out[name] = strings.Join(field, ",")
			}
		case *fileOIDC:
			if field != nil {
				out[name] = field.summary()
			}
		case *fileEgress:
			if field != nil {
				out[name] = strings.Join(field.Allow.plain(), ",")
			}
		}
	}
	return out
}

// policies are those that the file holds. The first thing wrong is an error.
func (f fileConfig) policies() (policy.Set, error) {
	set := policy.Set{}
	if err := add(set, "default", f.Agents); err != nil {
		return nil, err
	}
	for _, slug := range sortedKeys(f.Projects) {
		if err := add(set, slug, f.Projects[slug].Agents); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func add(set policy.Set, project string, agents map[string]fileAgent) error {
	for _, key := range sortedKeys(agents) {
		if _, twice := set[project][key]; twice {
			return fmt.Errorf("agent %q of project %q is given twice: under agents, and under projects", key, project)
		}
		p, err := agents[key].policy()
		if err != nil {
			return err
		}
		if set[project] == nil {
			set[project] = map[string]policy.Agent{}
		}
		set[project][key] = policy.Agent{PermissionMode: agents[key].PermissionMode.text, Policy: p}
	}
	return nil
}

// policy is what the file says of one agent's calls; nil when it says nothing.
func (a fileAgent) policy() (*policy.Policy, error) {
	written := a.ApprovalPolicy
	if written == nil && len(a.Tools) == 0 {
		return nil, nil
	}
	if written == nil {
		written = &filePolicy{}
	}
	if err := errors.Join(written.AutoAllow.check("auto_allow"), written.AutoDeny.check("auto_deny")); err != nil {
		return nil, err
	}
	p := &policy.Policy{
		AutoAllow: written.AutoAllow.plain(), AutoDeny: written.AutoDeny.plain(), Default: policy.Decision(written.Default.text), Tools: map[string]policy.Mode{},
	}
	if d := written.Default; d.at != nil && !p.Default.Known() {
		return nil, d.fail("default: %q is unknown; allowed are ask, allow and deny", d.text)
	}
	for _, r := range written.InputRules {
		rule, err := r.rule()
		if err != nil {
			return nil, err
		}
		p.InputRules = append(p.InputRules, rule)
	}
	for _, tools := range []map[string]fileTool{a.Tools, written.Tools} {
		for _, name := range sortedKeys(tools) {
			mode := tools[name].Permission.Mode
			if !policy.Mode(mode.text).Known() {
				return nil, mode.fail("tools: %s: permission.mode: %q is unknown; allowed are always_allow, always_ask and always_deny", name, mode.text)
			}
			p.Tools[name] = policy.Stricter(p.Tools[name], policy.Mode(mode.text))
		}
	}
	return p, nil
}

func (r fileInputRule) rule() (policy.InputRule, error) {
	out := policy.InputRule{Tool: r.Tool.text, Field: r.Field.text, Deny: r.Deny.plain(), Allow: r.Allow.plain()}
	if err := errors.Join(r.Deny.check("input_rules: deny"), r.Allow.check("input_rules: allow")); err != nil {
		return out, err
	}
	err := out.Check()
	if err == nil {
		return out, nil
	}
	for _, part := range slices.Concat(fileList{r.Tool, r.Field}, r.Deny, r.Allow) {
		if part.at != nil {
			return out, part.fail("input_rules: %s", err)
		}
	}
	return out, fmt.Errorf("input_rules: %w", err)
}

// fileList is a list of texts.
type fileList []fileText

// plain are the texts; nil if the list is not there.
func (l fileList) plain() (out []string) {
	if l != nil {
		out = []string{}
	}
	for _, t := range l {
		out = append(out, t.text)
	}
	return out
}

// check finds an item that is nothing, which YAML makes of ~ and of a dash alone.
func (l fileList) check(name string) error {
	for n, t := range l {
		if t.at == nil {
			return fmt.Errorf("%s: pattern %d is nothing; write one, in quotes", name, n+1)
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
