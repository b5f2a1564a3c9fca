package server

import (
	"net"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestSlowHeaders: connections that never finish asking keep nobody else out, and are cut off.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	_, line := start(t, map[string]string{})
	link, err := url.Parse(strings.TrimPrefix(line, "Open "))
	if err != nil {
		t.Fatal(err)
	}
	var last net.Conn
	for range 300 {
		if last, err = net.Dial("tcp", link.Host); err != nil {
			t.Fatal(err)
		}
		defer last.Close()
		if _, err := last.Write([]byte("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")); err != nil {
			t.Fatal(err)
		}
	}
	if status, _ := get(t, "http://"+link.Host+"/healthz"); status != 200 {
		t.Errorf("others get %d", status)
	}
	if err := last.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := last.Read(make([]byte, 1)); n != 0 || err == nil || isTimeout(err) {
		t.Errorf("after a minute it is still open (%d bytes, %v)", n, err)
	}
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}
