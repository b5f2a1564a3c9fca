package egress

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// TestAddresses is the table of control 12: what a name may resolve to, and what not.
func TestAddresses(t *testing.T) {
	table := map[bool][]string{
		false: {
			"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.1", "127.0.0.53", "127.255.255.254",
			"168.63.129.16", "169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1",
			"192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250",
			"240.0.0.1", "255.255.255.255",
			"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1",
			"fc00::1", "fd00:ec2::254", "fdff:ffff::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "ff02::1", "2001::1", "2001:10::1", "2001:db8::1",
			"2002:7f00:1::", "2002:a00:1::1", "3fff::1", "5f00::1",
		},
		true: {
			"1.1.1.1", "8.8.8.8", "9.9.9.9", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255", "128.0.0.1", "168.63.129.17", "169.253.255.255",
			"169.255.0.1", "172.15.255.255", "172.32.0.1", "192.167.255.255", "192.169.0.1", "198.17.255.255", "198.20.0.1", "223.255.255.254",
			"2606:4700:4700::1111", "2a00:1450:4001:82b::200e", "2001:4860:4860::8888", "::ffff:8.8.8.8",
		},
	}
	n := 0
	for public, list := range table {
		for _, text := range list {
			n++
			ip := netip.MustParseAddr(text)
			err := Config{}.check(netip.AddrPortFrom(ip, 443).String())
			if zoned := ip.Zone() != ""; Public(ip) != public || (err == nil) != public && !zoned || err != nil && !errors.Is(err, ErrRefused) {
				t.Errorf("%s: public %v, %v; want %v", text, Public(ip), err, public)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d addresses", n)
	}
	for _, text := range []string{"", "example.com:443", "127.0.0.1", "127.1:80", "0x7f000001:80"} {
		if err := (Config{}).check(text); !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAllowed(t *testing.T) {
	c := Config{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")}}
	for address, want := range map[string]bool{
		"10.1.2.3:443": true, "10.2.0.1:443": false, "[::ffff:10.1.2.3]:443": true, "[fd00::1]:443": true, "[fe80::1%eth0]:443": false, "127.0.0.1:80": false, "8.8.8.8:53": true,
	} {
		if err := c.check(address); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}

var loopback = Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}

// TestCalls goes through a real dial: by address, by a name that resolves to loopback, and after a redirect there.
func TestCalls(t *testing.T) {
	hits := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 100))
	}))
	defer s.Close()
	named := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	for _, url := range []string{s.URL, named} {
		if _, err := NewClient(Config{}).Get(url); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if hits != 0 {
		t.Fatal("it was called")
	}
	for _, url := range []string{s.URL, named} {
		resp, err := NewClient(loopback).Get(url + "/away")
		if err != nil || resp.StatusCode != http.StatusFound {
			t.Fatalf("%v, %v", resp, err)
		}
		resp.Body.Close()
	}
	if hits != 2 {
		t.Errorf("%d calls: a redirect was followed", hits)
	}
	for most, want := range map[int64]error{100: nil, 99: errTooLong} {
		c := loopback
		c.Most = most
		resp, err := NewClient(c).Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !errors.Is(err, want) || want == nil && len(got) != 100 {
			t.Errorf("at most %d: %d bytes, %v", most, len(got), err)
		}
	}
}

// TestNoProxy: the environment's proxy would make the call, and there the address is not checked.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	transport := NewClient(Config{}).Transport.(bounded).RoundTripper.(*http.Transport)
	if transport.Proxy != nil {
		t.Error("there is a proxy")
	}
}
