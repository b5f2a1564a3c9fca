package api

import (
	"bytes"
	"io"
	"net/http"
	"time"
)

// Inside is a transport to a handler of this process: a door that speaks REST with its caller's own key, and so can do what that may and no more.
type Inside struct{ To http.Handler }

// RoundTrip has the handler answer into memory.
func (t Inside) RoundTrip(req *http.Request) (*http.Response, error) {
	r := req.Clone(req.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r.RequestURI = r.URL.RequestURI()
	w := &recording{header: http.Header{}}
	t.To.ServeHTTP(w, r)
	if err := req.Context().Err(); err != nil {
		return nil, err // it may not have been answered
	}
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: req,
	}, nil
}

// recording is a response that stays in memory.
type recording struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recording) Header() http.Header { return w.header }

func (w *recording) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *recording) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// SetReadDeadline is there for handlers that bound how long a body may take; here it is there already.
func (*recording) SetReadDeadline(time.Time) error { return nil }
