//go:build linux

package chaos

import (
	"fmt"
	"io"
	"maps"
	"slices"
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
	open    map[int]belief   // the beliefs that are held now, by their parts
	writing map[int64]*write // not answered yet, by number
	idle    bool             // it puts no item until it is to rotate
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
		b := belief{}
		fmt.Sscan(line, &word, &at, &b.token, &b.part)
		b.from, b.to, b.token = at, at, max(b.token, 0)
		h.open[b.part] = b
	case "holds", "stops":
		var part int
		fmt.Sscan(line, &word, &at, &part)
		h.goesOn(part, at, word == "stops")
	case "writes":
		w := &write{fate: unknown}
		fmt.Sscan(line, &word, &w.n, &w.called, &w.part)
		h.writing[w.n] = w
	case "wrote":
		fmt.Sscan(line, &word, &value)
		if w := h.writing[value]; w != nil {
			fmt.Sscan(line, &word, &value, &w.fate, &w.heard)
			h.said.writes = append(h.said.writes, *w)
			delete(h.writing, value)
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

// goesOn notes that a belief goes on until then, and no longer if it ends.
func (h *hand) goesOn(part int, to int64, ends bool) {
	b, ok := h.open[part]
	if !ok {
		return
	}
	b.to = to
	h.open[part] = b
	if ends {
		h.said.beliefs = append(h.said.beliefs, b)
		delete(h.open, part)
	}
}

// end notes what was open when the process ended.
func (h *hand) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for part, b := range h.open {
		h.goesOn(part, b.to, true)
	}
	for _, w := range h.writing {
		h.said.writes = append(h.said.writes, *w)
	}
	clear(h.writing)
	h.wake()
}

// believes reports whether the client said so last.
func (h *hand) believes() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open) > 0
}

// parts returns the parts in which the client believes.
func (h *hand) parts() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.open))
}

// isIdle reports whether the client puts no item now.
func (h *hand) isIdle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.idle && len(h.writing) == 0
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
