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

// handler rules one server.
type handler struct {
	srv   *zkmem.Server
	token string
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
}

// route is what one path does.
type route struct {
	method string
	fields string // of the body
	stream bool
	do     func(*handler, *http.Request, ask) (any, error)
}

var routes map[string]route

func init() { // paths, which a refusal needs, is made of routes
	routes = map[string]route{
		"/v1/state":    {method: http.MethodGet, do: (*handler).state},
		"/v1/tree":     {method: http.MethodGet, do: (*handler).tree},
		"/v1/requests": {method: http.MethodGet, stream: true},
		"/v1/expire":   {method: http.MethodPost, fields: "session", do: (*handler).expire},
		"/v1/cut":      {method: http.MethodPost, fields: "session", do: (*handler).cut},
		"/v1/freeze":   {method: http.MethodPost, fields: "session direction", do: (*handler).freeze},
		"/v1/heal":     {method: http.MethodPost, do: (*handler).heal},
		"/v1/refuse":   {method: http.MethodPost, fields: "refuse", do: (*handler).refuseConnections},
		"/v1/next":     {method: http.MethodPost, fields: "op path session action delay code times", do: (*handler).addRule},
		"/v1/stop":     {method: http.MethodPost, do: (*handler).stop},
		"/v1/restart":  {method: http.MethodPost, do: (*handler).restart},
		"/v1/clock":    {method: http.MethodPost, fields: "by", do: (*handler).advance},
		"/v1/wipe":     {method: http.MethodPost, do: (*handler).wipe},
	}
}

func paths() string { return strings.Join(slices.Sorted(maps.Keys(routes)), ", ") }

func newHandler(srv *zkmem.Server, token string) *handler {
	h := &handler{srv: srv, token: token, end: make(chan struct{}), listeners: map[*listener]bool{}}
	srv.Intercept(h.decide)
	return h
}

var done = map[string]any{"done": true}

// session reads a session's id, as ZooKeeper writes it.
func (a ask) session() (int64, error) {
	id, err := strconv.ParseUint(strings.TrimPrefix(a.Session, "0x"), 16, 64)
	if err != nil || id == 0 {
		return 0, refuse(http.StatusBadRequest, "session is %q: want one of /v1/state, such as \"0x10000135ccd0000\"", a.Session)
	}
	return int64(id), nil
}

func (h *handler) expire(_ *http.Request, a ask) (any, error) {
	id, err := a.session()
	if err == nil && !h.srv.ExpireSession(id) {
		err = refuse(http.StatusNotFound, "there is no session %s", a.Session)
	}
	return done, err
}

func (h *handler) cut(_ *http.Request, a ask) (any, error) {
	id, err := a.session()
	if err == nil && !h.srv.Disconnect(id) {
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
	directions := map[string][]zkmem.Direction{"in": {zkmem.Inbound}, "out": {zkmem.Outbound}, "": {zkmem.Inbound, zkmem.Outbound}}[a.Direction]
	if directions == nil {
		return nil, refuse(http.StatusBadRequest, "direction is %q: want \"in\" (what clients send), \"out\", or none for both", a.Direction)
	}
	for _, direction := range directions {
		h.srv.Freeze(direction, sessions...)
	}
	return done, nil
}

func (h *handler) heal(*http.Request, ask) (any, error) { h.srv.Heal(); return done, nil }

func (h *handler) refuseConnections(_ *http.Request, a ask) (any, error) {
	h.srv.RefuseConnections(a.Refuse)
	return done, nil
}

func (h *handler) stop(*http.Request, ask) (any, error) { h.srv.Stop(); return done, nil }
func (h *handler) wipe(*http.Request, ask) (any, error) { h.srv.Wipe(); return done, nil }

func (h *handler) restart(*http.Request, ask) (any, error) {
	if err := h.srv.Restart(); err != nil {
		return nil, fmt.Errorf("cannot start again: %w", err)
	}
	return done, nil
}

// maxClock bounds how far one call moves the clock.
const maxClock = 10 * 365 * 24 * time.Hour

func (h *handler) advance(_ *http.Request, a ask) (any, error) {
	by, err := time.ParseDuration(a.By)
	if err != nil || by <= 0 || by > maxClock {
		return nil, refuse(http.StatusBadRequest, "by is %q: want a positive time of at most ten years, such as \"30s\"", a.By)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if by > zkmem.MaxAdvance-h.ahead {
		return nil, refuse(http.StatusBadRequest, "by is %q: the clock is %s ahead already, and may be %s at most: start another server", a.By, h.ahead, zkmem.MaxAdvance)
	}
	h.ahead += by
	h.srv.Advance(by)
	return done, nil
}
