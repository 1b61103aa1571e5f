//go:build linux

package chaos

import (
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
)

// hand is one client as its employer sees it.
type hand struct {
	orders
	*process

	mu      sync.Mutex
	said    client
	open    belief // the belief that is held now
	holds   bool
	writing *write // not answered yet
	idle    bool   // it puts no item until it is to rotate
	clock   chan int64
	left    bool
	stopped int64 // since when; 0 while it runs
	errors  []string
}

// hear takes a line that the client says: see worker.
func (h *hand) hear(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var word string
	var value, at int64
	fmt.Sscan(line, &word)
	switch word {
	case "clock":
		fmt.Sscan(line, &word, &at)
		h.clock <- at
	case "leads":
		var token int64
		fmt.Sscan(line, &word, &at, &token)
		h.open, h.holds = belief{span{at, at}, max(token, 0)}, true
	case "holds", "stops":
		fmt.Sscan(line, &word, &h.open.to)
		if word == "stops" {
			h.said.beliefs = append(h.said.beliefs, h.open)
			h.holds = false
		}
	case "writes":
		h.writing = &write{fate: unknown}
		fmt.Sscan(line, &word, &h.writing.n, &h.writing.called)
	case "wrote":
		if h.writing != nil {
			fmt.Sscan(line, &word, &value, &h.writing.fate, &h.writing.heard)
			h.said.writes = append(h.said.writes, *h.writing)
			h.writing = nil
		}
	case "done":
		var d handled
		fmt.Sscan(line, &word, &d.token, &d.item, &d.at)
		h.said.done = append(h.said.done, d)
	case "busy", "idle":
		h.idle = word == "idle"
	case "left":
		h.left = true
	default:
		h.errors = append(h.errors, line)
	}
}

// end notes what was open when the process ended.
func (h *hand) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holds {
		h.said.beliefs = append(h.said.beliefs, h.open)
		h.holds = false
	}
	if h.writing != nil {
		h.said.writes = append(h.said.writes, *h.writing)
		h.writing = nil
	}
	h.wake()
}

// believes reports whether the client said so last.
func (h *hand) believes() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holds
}

// isIdle reports whether the client puts no item now.
func (h *hand) isIdle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.idle && h.writing == nil
}

func (h *hand) hasLeft() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.left
}

func (h *hand) tell(word string) { io.WriteString(h.in, h.kind.word()+" "+word+"\n") }

// compare asks for the client's clock: it must be ours.
func (h *hand) compare() error {
	before := monotonic()
	h.tell("clock")
	select {
	case at := <-h.clock:
		if after := monotonic(); at < before || at > after {
			return fmt.Errorf("%s's clock says %d between our %d and %d", h.id, at, before, after)
		}
	case <-h.gone:
		return fmt.Errorf("%s %s has ended: %v", h.kind, h.id, h.errors)
	case <-time.After(within):
		return fmt.Errorf("%s %s does not tell the time", h.kind, h.id)
	}
	return nil
}

// kill ends the process at once.
func (h *hand) kill() {
	h.mu.Lock()
	h.said.killed = true
	h.mu.Unlock()
	h.cmd.Process.Kill()
	<-h.gone
}

// stopAll stops the processes of clients in their tracks, and resumeAll has them go on.
func stopAll(hands []*hand) {
	for _, h := range hands {
		h.mu.Lock()
		h.stopped = monotonic()
		h.mu.Unlock()
	}
	for _, h := range hands {
		h.cmd.Process.Signal(syscall.SIGSTOP)
	}
}

func resumeAll(hands []*hand) {
	for _, h := range hands {
		h.cmd.Process.Signal(syscall.SIGCONT)
	}
	for _, h := range hands {
		h.mu.Lock()
		h.wake()
		h.mu.Unlock()
	}
}

func (h *hand) wake() {
	if h.stopped != 0 {
		h.said.stopped = append(h.said.stopped, span{h.stopped, monotonic()})
		h.stopped = 0
	}
}

// history returns what is known of a client that has ended.
func (h *hand) history() client {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said
}
