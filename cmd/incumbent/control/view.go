package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// hexID writes a session's id as ZooKeeper does.
func hexID(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }

type sessionState struct {
	ID         string   `json:"id"`
	TimeoutMs  int64    `json:"timeoutMs"`
	ExpiresMs  int64    `json:"expiresInMs"`
	Address    string   `json:"address"` // "" while it is not connected
	Ephemerals []string `json:"ephemerals"`
	Server     int      `json:"server,omitempty"` // of an ensemble, where the client is, or was last
}

// serverState is one server of an ensemble.
type serverState struct {
	Server      int    `json:"server"`
	Address     string `json:"address"`
	TLSAddress  string `json:"tlsAddress"`
	Mode        string `json:"mode"` // "leader", "follower", …; "" while it serves nobody
	Running     bool   `json:"running"`
	Isolated    bool   `json:"isolated"`
	Paused      bool   `json:"paused"`
	Zxid        int64  `json:"zxid"`
	Connections int    `json:"connections"`
}

// totals are the counts of some servers together.
type totals struct {
	addresses, tlsAddresses          []string
	connections, watches, handshakes int
	zxid                             int64
	requests                         map[string]int
	servers                          []serverState
}

// add adds a server's counts.
func (t *totals) add(number int, srv *zkmem.Server) {
	one := serverState{Server: number, Address: srv.Addr(), TLSAddress: srv.TLSAddr()}
	t.addresses, t.tlsAddresses = append(t.addresses, one.Address), append(t.tlsAddresses, one.TLSAddress)
	srv.View(func(v *zkmem.View) {
		one.Mode, one.Running, one.Isolated, one.Paused = v.Mode(), v.Running(), v.Isolated(), v.Frozen()
		one.Zxid, one.Connections = v.Zxid(), v.Connections()
		t.watches += v.WatchCount()
		counts := v.Counts()
		t.handshakes += counts.Handshakes
		for op, n := range counts.ByOp {
			t.requests[op.String()] += n
		}
	})
	t.connections += one.Connections
	t.zxid = max(t.zxid, one.Zxid)
	t.servers = append(t.servers, one)
}

// state returns the sessions and the counts, of all servers or of the one that the request names.
func (h *handler) state(r *http.Request, _ ask) (any, error) {
	number, err := h.servers.queried(r)
	if err != nil {
		return nil, err
	}
	t := totals{requests: map[string]int{}}
	for i, srv := range h.servers.all {
		if number == 0 || number == i+1 {
			t.add(i+1, srv)
		}
	}
	sessions := []sessionState{}
	for _, s := range h.servers.all[0].Sessions() {
		if number == 0 || number == s.Server {
			sessions = append(sessions, sessionState{hexID(s.ID), s.Timeout.Milliseconds(),
				time.Until(s.Deadline).Milliseconds(), s.Addr, append([]string{}, s.Ephemerals...), s.Server})
		}
	}
	answer := map[string]any{"address": list(t.addresses), "tlsAddress": list(t.tlsAddresses), "sessions": sessions,
		"connections": t.connections, "watches": t.watches, "zxid": t.zxid, "requests": t.requests,
		"handshakes": t.handshakes}
	if e := h.servers.ensemble; e != nil {
		answer["servers"], answer["leader"], answer["config"] = t.servers, h.servers.number(e.Leader()), e.Config()
	}
	return answer, nil
}

// list returns the addresses that there are, as a connection string.
func list(addresses []string) string {
	return strings.Join(slices.DeleteFunc(addresses, func(addr string) bool { return addr == "" }), ",")
}

type nodeState struct {
	Path     string `json:"path"`
	Data     []byte `json:"data"` // base64
	Version  int32  `json:"version"`
	Czxid    int64  `json:"czxid"`
	Mzxid    int64  `json:"mzxid"`
	Owner    string `json:"owner,omitempty"` // the session of an ephemeral node
	Children int32  `json:"children"`
}

// tree returns a node and all below, parents first.
func (h *handler) tree(r *http.Request, _ ask) (any, error) {
	path := r.URL.Query().Get("path")
	if path == "" {
		path = "/"
	}
	srv, err := h.servers.reader(r)
	if err != nil {
		return nil, err
	}
	nodes := []nodeState{}
	srv.View(func(v *zkmem.View) { nodes = walk(v, path, nodes) })
	if len(nodes) == 0 {
		return nil, refuse(http.StatusNotFound, "there is no node %q", path)
	}
	return map[string]any{"nodes": nodes}, nil
}

func walk(v *zkmem.View, path string, nodes []nodeState) []nodeState {
	data, stat, err := v.Get(path)
	if err != nil {
		return nodes
	}
	n := nodeState{Path: path, Data: data, Version: stat.Version, Czxid: stat.Czxid, Mzxid: stat.Mzxid,
		Children: stat.NumChildren}
	if stat.EphemeralOwner != 0 {
		n.Owner = hexID(stat.EphemeralOwner)
	}
	nodes = append(nodes, n)
	for _, name := range v.Children(path) {
		nodes = walk(v, strings.TrimSuffix(path, "/")+"/"+name, nodes)
	}
	return nodes
}

// maxBehind is how many requests may wait for a slow reader of the stream. More are dropped, and counted in the next
// line.
const maxBehind = 10_000

type requestLine struct {
	Op      string `json:"op"`
	Path    string `json:"path,omitempty"`
	Session string `json:"session"`
	Xid     int32  `json:"xid"`
	Dropped int    `json:"dropped,omitempty"` // lines that are missing before this one
	Server  int    `json:"server,omitempty"`  // of an ensemble, which got it
}

// listener is a client that reads the stream of requests.
type listener struct {
	lines   chan requestLine
	server  int // 0 for any
	dropped int // guarded by handler.mu
}

// publish hands a request to every listener that wants those of its server. Under handler.mu.
func (h *handler) publish(server int, q zkmem.Request) {
	for l := range h.listeners {
		if l.server != 0 && l.server != server {
			continue
		}
		select {
		case l.lines <- requestLine{q.Op.String(), q.Path, hexID(q.Session), q.Xid, l.dropped, server}:
			l.dropped = 0
		default:
			l.dropped++
		}
	}
}

// listen adds a listener, or removes it.
func (h *handler) listen(l *listener, on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if on {
		h.listeners[l] = true
	} else {
		delete(h.listeners, l)
	}
}

// stream writes a line of JSON for each request that a server gets, until the client or the control server ends.
func (h *handler) stream(w http.ResponseWriter, r *http.Request) error {
	number, err := h.servers.queried(r)
	if err != nil {
		return err
	}
	l := &listener{lines: make(chan requestLine, maxBehind), server: number}
	h.listen(l, true)
	defer h.listen(l, false)
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	_ = control.Flush() // so that the client knows that it is connected
	out := json.NewEncoder(w)
	for {
		select {
		case line := <-l.lines:
			if out.Encode(line) != nil || control.Flush() != nil {
				return nil
			}
		case <-r.Context().Done():
			return nil
		case <-h.end:
			return nil
		}
	}
}
