package control

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// handler controls servers.
type handler struct {
	servers Servers
	token   string
	// expected says whether a request for a host is answered.
	expected func(host string) bool
	end      chan struct{} // closed when the control server ends

	mu        sync.Mutex
	next      []*rule
	ahead     time.Duration // how far the clock was moved, in all
	listeners map[*listener]bool
}

// ask is the body of a POST. Each path uses some of its fields.
type ask struct {
	Session   string `json:"session"`
	Direction string `json:"direction"`
	Op        string `json:"op"`
	Path      string `json:"path"`
	Action    string `json:"action"`
	Delay     string `json:"delay"`
	Code      int32  `json:"code"`
	Times     int    `json:"times"`
	By        string `json:"by"`
	Refuse    bool   `json:"refuse"`
	Server    *int   `json:"server"` // of an ensemble; nil for all
}

// route is what one path does.
type route struct {
	method   string
	fields   string // of the body
	stream   bool
	ensemble bool // a standalone server does not have it
	do       func(*handler, *http.Request, ask) (any, error)
}

var routes map[string]route

func init() { // paths, which a refusal needs, is made of routes
	routes = map[string]route{
		"/v1/state":    {method: http.MethodGet, do: (*handler).state},
		"/v1/tree":     {method: http.MethodGet, do: (*handler).tree},
		"/v1/requests": {method: http.MethodGet, stream: true},
		"/v1/expire":   {method: http.MethodPost, fields: "session", do: (*handler).expire},
		"/v1/cut":      {method: http.MethodPost, fields: "session", do: (*handler).cut},
		"/v1/freeze":   {method: http.MethodPost, fields: "session direction server", do: (*handler).freeze},
		"/v1/heal":     {method: http.MethodPost, do: (*handler).heal},
		"/v1/refuse":   {method: http.MethodPost, fields: "refuse server", do: (*handler).refuseConnections},
		"/v1/next":     {method: http.MethodPost, fields: ruleFields, do: (*handler).addRule},
		"/v1/stop":     {method: http.MethodPost, fields: "server", do: (*handler).stop},
		"/v1/restart":  {method: http.MethodPost, fields: "server", do: (*handler).restart},
		"/v1/clock":    {method: http.MethodPost, fields: "by", do: (*handler).advance},
		"/v1/wipe":     {method: http.MethodPost, do: (*handler).wipe},
	}
	maps.Copy(routes, faults())
}

// route returns what a path does.
func (h *handler) route(path string) (route, error) {
	r, ok := routes[path]
	switch {
	case !ok:
		return r, refuse(http.StatusNotFound, "no %q: there are %s", path, h.paths())
	case r.ensemble && h.servers.ensemble == nil:
		return r, refuse(http.StatusNotFound, "no %q at a standalone server: start one with --ensemble 3", path)
	}
	return r, nil
}

func (h *handler) paths() string {
	var all []string
	for _, path := range slices.Sorted(maps.Keys(routes)) {
		if h.servers.ensemble != nil || !routes[path].ensemble {
			all = append(all, path)
		}
	}
	return strings.Join(all, ", ")
}

func newHandler(servers Servers, token string) *handler {
	h := &handler{servers: servers, token: token, end: make(chan struct{}), listeners: map[*listener]bool{}}
	for _, srv := range servers.all {
		number := servers.number(srv)
		srv.Intercept(func(q zkmem.Request) zkmem.Verdict { return h.decide(number, q) })
	}
	return h
}

var done = map[string]any{"done": true}

// session reads a session's id, as ZooKeeper writes it.
func (a ask) session() (int64, error) {
	id, err := strconv.ParseUint(strings.TrimPrefix(a.Session, "0x"), 16, 64)
	if err != nil || id == 0 {
		return 0,
			refuse(http.StatusBadRequest,
				"session is %q: want one of /v1/state, such as \"0x10000135ccd0000\"", a.Session)
	}
	return int64(id), nil
}

func (h *handler) expire(_ *http.Request, a ask) (any, error) {
	id, err := a.session()
	if err != nil || h.servers.all[0].ExpireSession(id) {
		return done, err
	}
	for _, s := range h.servers.all[0].Sessions() {
		if s.ID == id {
			return nil, refuse(http.StatusConflict,
				"no leader has a quorum to end session %s: heal or restart servers first", a.Session)
		}
	}
	return nil, refuse(http.StatusNotFound, "there is no session %s", a.Session)
}

func (h *handler) cut(_ *http.Request, a ask) (any, error) {
	id, err := a.session()
	if err == nil && !h.servers.all[0].Disconnect(id) {
		err = refuse(http.StatusNotFound, "session %s is not connected", a.Session)
	}
	return done, err
}

// freeze concerns one session, or everybody.
func (h *handler) freeze(_ *http.Request, a ask) (any, error) {
	var sessions []int64
	if a.Session != "" {
		id, err := a.session()
		if err != nil {
			return nil, err
		}
		sessions = []int64{id}
	}
	directions := map[string][]zkmem.Direction{"in": {zkmem.Inbound}, "out": {zkmem.Outbound},
		"": {zkmem.Inbound, zkmem.Outbound}}[a.Direction]
	if directions == nil {
		return nil,
			refuse(http.StatusBadRequest,
				"direction is %q: want \"in\" (what clients send), \"out\", or none for both", a.Direction)
	}
	return h.each(a, func(srv *zkmem.Server) error {
		for _, direction := range directions {
			srv.Freeze(direction, sessions...)
		}
		return nil
	})
}

// each does something to the server that a request names, or to all.
func (h *handler) each(a ask, do func(*zkmem.Server) error) (any, error) {
	chosen, err := h.servers.chosen(a)
	if err != nil {
		return nil, err
	}
	for _, srv := range chosen {
		if err := do(srv); err != nil {
			return nil, err
		}
	}
	return done, nil
}

func (h *handler) heal(*http.Request, ask) (any, error) {
	for _, srv := range h.servers.all {
		srv.Heal()
	}
	if h.servers.ensemble != nil {
		h.servers.ensemble.Heal()
	}
	return done, nil
}

func (h *handler) refuseConnections(_ *http.Request, a ask) (any, error) {
	return h.each(a, func(srv *zkmem.Server) error { srv.RefuseConnections(a.Refuse); return nil })
}

func (h *handler) stop(_ *http.Request, a ask) (any, error) {
	return h.each(a, func(srv *zkmem.Server) error { srv.Stop(); return nil })
}

// wipe empties the server, or all of an ensemble.
func (h *handler) wipe(*http.Request, ask) (any, error) { h.servers.all[0].Wipe(); return done, nil }

func (h *handler) restart(_ *http.Request, a ask) (any, error) {
	return h.each(a, func(srv *zkmem.Server) error {
		if err := srv.Restart(); err != nil {
			return fmt.Errorf("cannot start again: %w", err)
		}
		return nil
	})
}

// maxClock bounds how far one call moves the clock.
const maxClock = 10 * 365 * 24 * time.Hour

func (h *handler) advance(_ *http.Request, a ask) (any, error) {
	by, _ := time.ParseDuration(a.By) // 0 is refused, too
	if by <= 0 || by > maxClock {
		return nil,
			refuse(http.StatusBadRequest, "by is %q: want a positive time of at most ten years, such as \"30s\"", a.By)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if by > zkmem.MaxAdvance-h.ahead {
		return nil,
			refuse(http.StatusBadRequest,
				"by is %q: the clock is %s ahead already, and may be %s at most: start another server", a.By, h.ahead,
				zkmem.MaxAdvance)
	}
	h.ahead += by
	h.servers.all[0].Advance(by) // of a member: of all
	return done, nil
}
