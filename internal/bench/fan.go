package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/gorilla/websocket"
)

// fan sends each frame to every socket: a queue and two goroutines per socket, one prepared message for all.
type fan struct {
	http     *httptest.Server
	upgrader websocket.Upgrader
	mu       sync.Mutex
	queues   []chan *websocket.PreparedMessage
	writers  sync.WaitGroup
}

func newFan() *fan {
	f := &fan{upgrader: websocket.Upgrader{ReadBufferSize: 1024, WriteBufferSize: 1024, WriteBufferPool: &sync.Pool{}}}
	f.http = httptest.NewServer(http.HandlerFunc(f.open))
	return f
}

func (f *fan) address() string { return "ws" + strings.TrimPrefix(f.http.URL, "http") }

func (f *fan) open(w http.ResponseWriter, r *http.Request) {
	conn, err := f.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered, and the client fails
	}
	queue := make(chan *websocket.PreparedMessage, 16)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queues = append(f.queues, queue)
	f.writers.Go(func() { write(conn, queue) })
	go untilGone(conn)
}

// untilGone reads what never comes: nothing else notices that a page is gone.
func untilGone(conn *websocket.Conn) {
	for {
		if _, _, err := conn.NextReader(); err != nil {
			return
		}
	}
}

func write(conn *websocket.Conn, queue chan *websocket.PreparedMessage) {
	defer conn.Close()
	for m := range queue {
		if conn.WritePreparedMessage(m) != nil {
			return
		}
	}
}

// send gives one frame to all.
func (f *fan) send(frame []byte) error {
	m, err := websocket.NewPreparedMessage(websocket.TextMessage, frame)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, queue := range f.queues {
		queue <- m
	}
	return nil
}

func (f *fan) close() {
	f.mu.Lock()
	for _, queue := range f.queues {
		close(queue)
	}
	f.mu.Unlock()
	f.writers.Wait()
	f.http.Close()
}
