package main

// size is how much is measured.
type size struct {
	name    string
	rounds  int
	singles int // samples of a round that one client takes one after another
	burst   int // requests of a round that 64 clients share
	screens int // sockets that watch
	fans    int // samples of a round with all of them
	stored  int // interactions of the large store
	events  int // of the long conversation
	crowd   int // agents that wait at once
	waiters int // that the memory of a server is measured with
}

var (
	full  = size{name: "full", rounds: 7, singles: 300, burst: 6000, screens: 1000, fans: 100, stored: 1_000_000, events: 10_000, crowd: 500, waiters: 4000}
	quick = size{name: "quick", rounds: 5, singles: 150, burst: 3000, screens: 1000, fans: 40, stored: 50_000, events: 10_000, crowd: 500, waiters: 500}
	// tiny shows that each row still works; its figures mean nothing.
	tiny = size{name: "tiny", rounds: 2, singles: 5, burst: 128, screens: 20, fans: 3, stored: 300, events: 500, crowd: 6, waiters: 30}
)

// clients is how many call at once in the rows that say so.
const clients = 64
