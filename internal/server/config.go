package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Config is what an operator may set, each by a flag, an environment variable or the configuration file, in that order of precedence.
type Config struct {
	Listen       string
	Data         string
	Database     string
	ConfigFile   string
	BasePath     string
	PublicURL    string
	AllowedHosts []string
	Proxies      []string // addresses and networks
	LogFormat    string
	LogLevel     string

	OIDC   *OIDC          // who else signs people in; nil: nobody. From the file and SAYSO_OIDC_…, never a flag
	Egress []netip.Prefix // addresses that may be called out to although they are not public

	Dev     bool   // show /gallery
	Version string // of the program
}

// Setting is one thing that can be set: --name, SAYSO_NAME, name in the file (with _ for -).
type Setting struct {
	Name    string
	Usage   string
	Default string
	put     func(*Config, string)
}

// Settings are all of them.
func Settings() []Setting { return slices.Clone(settings) }

var settings = []Setting{
	{"listen", "address and port to listen on; port 0 picks one", "127.0.0.1:7777", func(c *Config, v string) { c.Listen = v }},
	{"data", "folder that holds the database and the keys", "~/.sayso", func(c *Config, v string) { c.Data = v }},
	{"database", "sqlite, in the data folder", "sqlite", func(c *Config, v string) { c.Database = v }},
	{"config", "configuration file (YAML)", "", func(c *Config, v string) { c.ConfigFile = v }},
	{"base-path", "path that a proxy mounts Sayso on, for example /sayso", "", func(c *Config, v string) { c.BasePath = v }},
	{"public-url", "scheme and host that browsers use, for example https://sayso.example.com", "", func(c *Config, v string) { c.PublicURL = v }},
	{"allowed-hosts", "further host names to answer for, separated by commas", "", func(c *Config, v string) { c.AllowedHosts = split(v) }},
	{"trusted-proxies", "addresses or networks of proxies whose X-Forwarded-For is believed, separated by commas", "", func(c *Config, v string) { c.Proxies = split(v) }},
	{"log-format", "text or json", "text", func(c *Config, v string) { c.LogFormat = v }},
	{"log-level", "debug, info, warn or error", "info", func(c *Config, v string) { c.LogLevel = v }},
}

func split(list string) (out []string) {
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// Default is the configuration when nothing is set.
func Default() Config {
	var c Config
	for _, s := range settings {
		s.put(&c, s.Default)
	}
	return c
}

// Load fills c in. set gives the flags that were given. The file is the one named by a flag or the environment.
func (c *Config) Load(set func(name string) (value string, ok bool)) error {
	given := func(name string) (string, bool) {
		if v, ok := set(name); ok {
			return v, true
		}
		return os.LookupEnv("SAYSO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
	path, _ := given("config")
	read, err := readFile(path)
	if err != nil {
		return err
	}
	file := read.values()
	for _, s := range settings {
		value, ok := given(s.Name)
		if !ok {
			value, ok = file[s.Name]
		}
		if ok {
			s.put(c, value)
		}
	}
	if err := c.callingOut(read, os.LookupEnv); err != nil {
		return fmt.Errorf("config: %s: %s", cmp.Or(path, "environment"), oneLine(err))
	}
	return c.check()
}

// basePathForm has no segment of dots only: browsers would take it away.
var basePathForm = regexp.MustCompile(`^(/[._~-]*[A-Za-z0-9][A-Za-z0-9._~-]*)+$`)

var hostForm = regexp.MustCompile(`^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(:[0-9]+)?$`)

// check says which setting is wrong, why, and what is allowed. It also writes the data folder out in full.
func (c *Config) check() error {
	if host, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("listen: %q is not an address; give host:port, for example 127.0.0.1:7777", c.Listen)
	} else if host != "" && host != "localhost" && net.ParseIP(host) == nil {
		return fmt.Errorf("listen: %q is not an IP address; give one, or localhost", host)
	}
	if c.Database != "sqlite" {
		return fmt.Errorf("database: %q is not supported yet; only sqlite is (PostgreSQL comes later)", withoutSecret(c.Database))
	}
	if c.BasePath = strings.TrimSuffix(c.BasePath, "/"); c.BasePath != "" && !basePathForm.MatchString(c.BasePath) {
		return fmt.Errorf("base-path: %q is not a path; give one like /sayso", c.BasePath)
	}
	if err := c.checkPublicURL(); err != nil {
		return err
	}
	if err := c.checkOIDC(); err != nil {
		return err
	}
	for _, host := range c.AllowedHosts {
		if !hostForm.MatchString(host) {
			return fmt.Errorf("allowed-hosts: %q is not a host name; give names like sayso.example.com, separated by commas", host)
		}
	}
	for _, proxy := range c.Proxies {
		if _, err := network(proxy); err != nil {
			return fmt.Errorf("trusted-proxies: %q is neither an IP address nor a network; give ones like 127.0.0.1 or 10.0.0.0/8, separated by commas", proxy)
		}
	}
	if c.LogFormat != "text" && c.LogFormat != "json" {
		return fmt.Errorf("log-format: %q is unknown; allowed are text and json", c.LogFormat)
	}
	if err := new(slog.Level).UnmarshalText([]byte(c.LogLevel)); err != nil {
		return fmt.Errorf("log-level: %q is unknown; allowed are debug, info, warn and error", c.LogLevel)
	}
	return c.findData()
}

// withoutSecret leaves the password of a database's address out of an error.
func withoutSecret(address string) string {
	if u, err := url.Parse(address); err == nil && u.User != nil {
		return u.Redacted()
	}
	return address
}

func (c *Config) checkPublicURL() error {
	if c.PublicURL == "" {
		return nil
	}
	u, err := url.Parse(strings.TrimSuffix(c.PublicURL, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return fmt.Errorf("public-url: %q is not scheme and host; give one like https://sayso.example.com (a path goes into base-path)", c.PublicURL)
	}
	c.PublicURL = u.String()
	return nil
}

func (c *Config) findData() error {
	if rest, ok := strings.CutPrefix(c.Data, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("data: %q needs a home folder, and there is none: %w", c.Data, err)
		}
		c.Data = filepath.Join(home, rest)
	}
	if c.Data == "" {
		return errors.New("data: must not be empty; give a folder")
	}
	return nil
}

// proxies are the trusted ones, as networks.
func (c Config) proxies() (all []netip.Prefix) {
	for _, proxy := range c.Proxies {
		if p, err := network(proxy); err == nil { // it was checked when the configuration was read
			all = append(all, p)
		}
	}
	return all
}

// network reads a network, or an address as a network of one.
func network(s string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(s); err == nil {
		return ip.Prefix(ip.BitLen())
	}
	return netip.ParsePrefix(s)
}

// hosts are the names that a request may ask for: on loopback only our own, so that no other name can be pointed at us.
func (c Config) hosts() []string {
	host, _, _ := net.SplitHostPort(c.Listen)
	named := slices.Clone(c.AllowedHosts)
	if u, err := url.Parse(c.PublicURL); err == nil && u.Host != "" {
		named = append(named, u.Host)
	}
	if len(named) == 0 && !loopback(host) {
		return nil
	}
	return append(named, "localhost", "127.0.0.1", "[::1]")
}

// command is how a person on this machine calls the program for this server. Pages name it to people who are not signed in, so a server that
// others reach does not tell where it lies.
func (c Config) command() string {
	if host, _, _ := net.SplitHostPort(c.Listen); !loopback(host) || c.PublicURL != "" {
		return "sayso"
	}
	command := os.Args[0]
	if c.Data != c.defaultData() {
		command += " --data " + c.Data
	}
	return command
}

func (c Config) defaultData() string {
	d := Default()
	if d.findData() != nil {
		return ""
	}
	return d.Data
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (c Config) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo // unreachable: check refused it
	}
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(WithoutCredentials(slog.NewJSONHandler(w, options)))
	}
	return slog.New(WithoutCredentials(slog.NewTextHandler(w, options)))
}
