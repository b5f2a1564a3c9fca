package mcp

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// A response of Claude Code's that breaks off is gone on with. It asks for the rest with GET and the id of the last event that had one, also in
// the generation of the protocol that has no sessions and no such thing (measured with 2.1.332); without an id the answer is lost to it, after
// 120 s. The id is the call itself, so nothing is kept for it, and a server that was restarted in between can answer: a call with the client's
// own id joins what it asked before, and is one card.
const (
	callEvent = "call-" // what such ids begin with
	// resumeAfter is in how many milliseconds the client comes back. A restart takes less. It comes twice at most.
	resumeAfter = 20_000
	// eventMost bounds an id in bytes: it comes back in a header, and proxies take 8 kB of those.
	eventMost = 4 << 10
	// resumedMost bounds what an id may unpack to, in bytes.
	resumedMost = 64 << 10
)

const (
	lastEventHeader = "Last-Event-ID"
	methodHeader    = "Mcp-Method"
	nameHeader      = "Mcp-Name"
	toolsCall       = "tools/call"
)

// callBody is a request of the protocol without sessions, as far as it matters here.
type callBody struct {
	Method string `json:"method"`
	Params struct {
		Name string `json:"name"`
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
			CallID  string `json:"claudecode/toolUseId"`
			Client  struct {
				Name string `json:"name"`
			} `json:"io.modelcontextprotocol/clientInfo"`
		} `json:"_meta"`
	} `json:"params"`
}

// resumable says whether a request may be made again: its client would, and it joins what it asked before.
func (b callBody) resumable(n names) bool {
	ours := slices.Contains([]string{n.ask, n.approve, n.await}, b.Params.Name)
	return b.Method == toolsCall && ours && b.Params.Meta.CallID != "" && b.Params.Meta.Client.Name == "claude-code" && b.Params.Meta.Version >= modernProtocol
}

// eventID is the id of a response's event, by which a client can have the rest of it; "": it cannot. The body can be read again.
func (h *Handler) eventID(r *http.Request) string {
	if r.Method != http.MethodPost || r.Header.Get(methodHeader) != toolsCall {
		return ""
	}
	raw, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	var body callBody
	if err != nil || len(raw) > resumedMost || json.Unmarshal(raw, &body) != nil || !body.resumable(h.names()) {
		return ""
	}
	if id := callEvent + packed(raw); len(id) <= eventMost {
		return id
	}
	return ""
}

// resumed is the call that a GET for the rest of its response stands for; r itself, if it is none.
func (h *Handler) resumed(r *http.Request) (*http.Request, error) {
	id, ours := strings.CutPrefix(r.Header.Get(lastEventHeader), callEvent)
	if r.Method != http.MethodGet || !ours {
		return r, nil
	}
	raw, err := unpacked(id)
	var body callBody
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil || !body.resumable(h.names()) {
		return nil, fmt.Errorf("%s: only an id that came with a response is allowed", lastEventHeader)
	}
	call := r.Clone(r.Context())
	call.Method, call.Body, call.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	call.Header.Del(lastEventHeader)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		protocolHeader: body.Params.Meta.Version, methodHeader: toolsCall, nameHeader: body.Params.Name,
	} {
		call.Header.Set(name, value)
	}
	return call, nil
}

func packed(raw []byte) string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // the level is a valid one
	_, _ = w.Write(raw)                                // neither fails into memory
	_ = w.Close()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// unpacked is what was packed, of which a client may have made anything.
func unpacked(id string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), resumedMost))
}
