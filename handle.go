package incumbent

import (
	"sync"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/handles"
)

// State is a handle's state as Curator names it.
type State string

// The states of a handle. Phase is finer.
const (
	Latent  State = "LATENT"  // not started
	Started State = "STARTED" // in the line, or joining or leaving it
	Closed  State = "CLOSED"
)

// handle is what all handles share. The type that embeds a handle has the methods that the loop calls: see receiver.
type handle struct {
	bareHandle
	base   handles.Handle
	client *Client

	mu sync.Mutex // guards what the kind of handle has
}

func (h *handle) init(c *Client, path string) {
	c.opened()
	h.client = c
	h.base.Init(&c.core, path)
}

// Path returns the directory of the line or the group, or the node's path.
func (h *handle) Path() string { return h.base.Path() }

// Phase does what handles.Handle.Phase does.
func (h *handle) Phase() string { return h.base.Phase() }

// Class returns the class of the machine's state: what the handle decides by.
func (h *handle) Class() events.Class { return h.base.Class() }

// Err does what handles.Handle.Err does.
func (h *handle) Err() error { return h.base.Err() }

// State returns LATENT, STARTED or CLOSED.
func (h *handle) State() State {
	switch h.Class() {
	case events.ClassLatent:
		return Latent
	case events.ClassClosed:
		return Closed
	}
	return Started
}
