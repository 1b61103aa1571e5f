// Package health serves what load balancers, orchestrators and people ask a process that may lead: whether it
// lives, whether it is ready, and who leads. It may change in any release.
//
// The root package does not import net/http; this one does.
package health

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
)

// Options say when a process is ready, and how long it may take. The zero value is good.
type Options struct {
	// Path is the line that /leader is about. Without a Path, /leader answers 404.
	Path string
	// RequireConnection has /readyz fail while there is no connection to the ensemble.
	RequireConnection bool
	// LeaderOnly has /readyz fail while this process does not lead Path: a standby gets no traffic then.
	LeaderOnly bool
	// Grace is how long work may go on after its term before /livez fails: by default, a session timeout, or
	// 15 s before the first connection.
	Grace time.Duration
	// Probe is how long the client's loop may take to answer before /livez fails: by default 5 s.
	Probe time.Duration
}

// Handler returns a handler of /livez, /readyz and /leader, for GET and HEAD. Mount it with http.StripPrefix
// under another path. The error says which option is wrong.
//
//   - /livez is 200 unless the client's loop hangs, work goes on too long after its term, or the client was
//     closed. It never fails because of the ensemble: an outage there must restart nothing.
//   - /readyz is 200 for a leader and for a standby, unless an option asks for more.
//   - /leader is 200 with a Leader, as JSON. Each request reads the line from the ensemble, and the answer is
//     503 if that takes a third of the session timeout, or if there is no connection: it is never an old one.
func Handler(c *incumbent.Client, o Options) (http.Handler, error) {
	switch {
	case c == nil:
		return nil, errors.New("health: the client is nil: pass the one that incumbent.Open returned")
	case o.Grace < 0 || o.Probe < 0:
		return nil, errors.New("health: Options.Grace and Options.Probe must not be below zero")
	case o.LeaderOnly && o.Path == "":
		return nil, errors.New("health: Options.LeaderOnly needs Options.Path: name the line that has to be led")
	}
	h := &checks{client: c, options: o, reads: make(chan struct{}, maxReads)}
	if o.Path != "" {
		if err := incumbent.CheckPath(o.Path); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, r *http.Request) { answer(w, h.lives(r.Context())) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, h.ready()) })
	mux.HandleFunc("GET /leader", h.leader)
	return mux, nil
}

// maxReads is how many requests for /leader read the line at once: more of them wait. So a flood of them cannot fill
// the client's queue of requests, in which the participants' own stand, too.
const maxReads = 4

type checks struct {
	client  *incumbent.Client
	options Options
	reads   chan struct{} // one for each read of the line
}

// line reads the line, when it is its turn. It does not wait for a connection.
func (h *checks) line(ctx context.Context) (incumbent.Line, error) {
	if err := h.client.Err(); err != nil {
		return incumbent.Line{}, err
	}
	select {
	case h.reads <- struct{}{}:
		defer func() { <-h.reads }()
		return h.client.Line(ctx, h.options.Path)
	case <-ctx.Done():
		return incumbent.Line{},
			fmt.Errorf("%d requests for /leader are being answered, which takes too long: %w", maxReads, ctx.Err())
	}
}

// answer writes "ok", or 503 with the reason.
func answer(w http.ResponseWriter, err error) {
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		http.Error(w, events.Foreign(err.Error(), 3*events.MaxText), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

func (h *checks) lives(ctx context.Context) error {
	if h.client.Closed() {
		return errors.New("the client is closed")
	}
	limit := h.options.Probe
	if limit == 0 {
		limit = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := h.client.Probe(ctx); err != nil {
		return fmt.Errorf("the client's loop has not answered for %s: %w", limit, err)
	}
	grace := h.options.Grace
	if grace == 0 {
		grace = timeout(h.client)
	}
	for _, one := range h.client.Stats().Handles {
		if one.Draining > grace {
			return errors.New("work on " + one.Path + " goes on " + one.Draining.Round(time.Second).String() +
				" after its term ended")
		}
	}
	return nil
}

func (h *checks) ready() error {
	if h.client.Closed() {
		return errors.New("the client is closed")
	}
	if err := h.client.Err(); err != nil && h.options.RequireConnection {
		return err
	}
	if h.options.LeaderOnly {
		if leads, _ := believes(h.client, h.options.Path); !leads {
			return errors.New("this process does not lead " + h.options.Path)
		}
	}
	return nil
}

// Leader is what /leader answers.
type Leader struct {
	Path       string `json:"path"`
	Leads      bool   `json:"leads"`        // this process believes that it leads, at this moment
	Token      int64  `json:"token,string"` // of its term; 0 if it does not lead
	ValidForMS int64  `json:"validForMs"`   // how long its belief lasts without another confirmation
	First      *First `json:"first"`        // who is first in line; null if the line is empty
	// Forged says that the order in line is one that ZooKeeper cannot have made: see incumbent.Line.Forged.
	Forged bool `json:"forged,omitempty"`
}

// First is the first in line. It does not always lead: see incumbent.Participant.
type First struct {
	ID    string `json:"id"` // cut above 1 KiB
	Token int64  `json:"token,string"`
}

func (h *checks) leader(w http.ResponseWriter, r *http.Request) {
	if h.options.Path == "" {
		http.Error(w, "health: Options.Path names no line", http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout(h.client)/3)
	defer cancel()
	line, err := h.line(ctx)
	if err != nil {
		answer(w, err)
		return
	}
	body := Leader{Path: h.options.Path}
	var handle incumbent.HandleStats
	if body.Leads, handle = believes(h.client, h.options.Path); body.Leads {
		body.Token, body.ValidForMS = handle.Token, handle.ValidFor.Milliseconds()
	}
	if first, found := line.First(); found {
		body.First = &First{shortID(first.ID), first.Token}
	}
	_, _, body.Forged = line.Forged()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	b, _ := json.Marshal(body) // no field can fail
	_, _ = w.Write(append(events.EscapeForTerminal(b), '\n'))
}

// shortID cuts an id that its owner has made very long.
func shortID(id string) string {
	if len(id) <= events.MaxText {
		return id
	}
	return strings.ToValidUTF8(id[:events.MaxText], "") + "…"
}

// believes reports whether a participant of this client leads a line.
func believes(c *incumbent.Client, path string) (bool, incumbent.HandleStats) {
	for _, one := range c.Stats().Handles {
		if one.Path == path && one.Leads && !one.Holds {
			return true, one
		}
	}
	return false, incumbent.HandleStats{}
}

func timeout(c *incumbent.Client) time.Duration {
	if granted := c.SessionTimeout(); granted > 0 {
		return granted
	}
	return 15 * time.Second
}
