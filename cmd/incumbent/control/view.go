package control

import (
	"encoding/json"
	"fmt"
	"net/http"
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
}

// state returns the sessions and the counts.
func (h *handler) state(*http.Request, ask) (any, error) {
	sessions := []sessionState{}
	answer := map[string]any{"address": h.srv.Addr(), "tlsAddress": h.srv.TLSAddr()}
	h.srv.View(func(v *zkmem.View) {
		for _, s := range v.Sessions() {
			sessions = append(sessions, sessionState{hexID(s.ID), s.Timeout.Milliseconds(), time.Until(s.Deadline).Milliseconds(),
				s.Addr, append([]string{}, s.Ephemerals...)})
		}
		counts := v.Counts()
		requests := map[string]int{}
		for op, n := range counts.ByOp {
			requests[op.String()] = n
		}
		answer["sessions"], answer["connections"], answer["watches"] = sessions, v.Connections(), v.WatchCount()
		answer["zxid"], answer["requests"], answer["handshakes"] = v.Zxid(), requests, counts.Handshakes
	})
	return answer, nil
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
	nodes := []nodeState{}
	h.srv.View(func(v *zkmem.View) { nodes = walk(v, path, nodes) })
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
	n := nodeState{Path: path, Data: data, Version: stat.Version, Czxid: stat.Czxid, Mzxid: stat.Mzxid, Children: stat.NumChildren}
	if stat.EphemeralOwner != 0 {
		n.Owner = hexID(stat.EphemeralOwner)
	}
	nodes = append(nodes, n)
	for _, name := range v.Children(path) {
		nodes = walk(v, strings.TrimSuffix(path, "/")+"/"+name, nodes)
	}
	return nodes
}

// maxBehind is how many requests may wait for a slow reader of the stream. More are dropped, and counted in the next line.
const maxBehind = 10_000

type requestLine struct {
	Op      string `json:"op"`
	Path    string `json:"path,omitempty"`
	Session string `json:"session"`
	Xid     int32  `json:"xid"`
	Dropped int    `json:"dropped,omitempty"` // lines that are missing before this one
}

// listener is a client that reads the stream of requests.
type listener struct {
	lines   chan requestLine
	dropped int // guarded by handler.mu
}

// publish hands a request to every listener. Under handler.mu.
func (h *handler) publish(q zkmem.Request) {
	for l := range h.listeners {
		select {
		case l.lines <- requestLine{q.Op.String(), q.Path, hexID(q.Session), q.Xid, l.dropped}:
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

// stream writes a line of JSON for each request that the server gets, until the client or the control server ends.
func (h *handler) stream(w http.ResponseWriter, r *http.Request) error {
	l := &listener{lines: make(chan requestLine, maxBehind)}
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
