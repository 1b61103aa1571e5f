package zkmem

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// three returns an ensemble of three servers that is closed with the test, its leader and its followers. It listens
// nowhere.
func three(t testing.TB, o Options) (e *Ensemble, leader *Server, followers []*Server) {
	t.Helper()
	e, err := NewEnsemble(3, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, e.Leader(), e.Followers()
}

// do ends the test if a fault is refused.
func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mode compares a server's mode. It has it as soon as a fault has returned.
func mode(t *testing.T, s *Server, want string) {
	t.Helper()
	s.View(func(v *View) {
		if got := v.Mode(); got != want {
			t.Errorf("mode %q, want %q", got, want)
		}
	})
}

// served waits until a server has taken so many requests of a kind from its clients.
func served(t *testing.T, s *Server, op OpCode, count int) {
	t.Helper()
	until(t, s, func(v *View) bool { return v.Counts().ByOp[op] >= count })
}

// has reports whether a server has applied the creation of a node.
func has(s *Server, path string) (there bool) {
	s.View(func(v *View) { there = v.Exists(path) })
	return there
}

// sees asks for a node at the server where the client is, and compares the code.
func (c *rawClient) sees(path string, want Code) {
	c.t.Helper()
	if code, _, err := c.ask(OpExists, read(path, false)); code != want || err != nil {
		c.t.Fatalf("%s: %v %v, want %v", path, code, err, want)
	}
}

// answers compares the code of the reply to a request that was sent.
func (c *rawClient) answers(xid int32, want Code) *decoder {
	c.t.Helper()
	code, d, err := c.reply(xid)
	if code != want || err != nil {
		c.t.Fatalf("request %d: %v %v, want %v", xid, code, err, want)
	}
	return d
}

// handshake offers a session, or 0 for a new one, and returns what the server says.
func (c *rawClient) handshake(session int64, secret []byte, seen int64, readOnly bool) (isReadOnly, answered bool) {
	c.t.Helper()
	e := newFrame()
	e.int32(0)
	e.int64(seen)
	e.int32(30_000)
	e.int64(session)
	e.bytes(secret)
	e.bool(readOnly)
	c.nc.Write(e.frame())
	frame, err := c.read()
	if err != nil {
		return false, false
	}
	d := &decoder{buf: frame}
	d.int32()
	c.timeout, c.session, c.secret = d.int32(), d.int64(), d.bytes()
	return d.bool(), true
}

// word asks a server a four-letter word.
func word(t testing.TB, s *Server, name string) string {
	t.Helper()
	c := overPipe(t, s)
	c.nc.Write([]byte(name))
	_ = c.nc.SetReadDeadline(time.Now().Add(enough))
	var answer []byte
	buf := make([]byte, 4096)
	for {
		n, err := c.nc.Read(buf)
		answer = append(answer, buf[:n]...)
		if err != nil {
			return string(answer)
		}
	}
}

// line returns the line of a text that begins with a word.
func line(text, begins string) string {
	lines := strings.Split(text, "\n")
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, begins) }); i >= 0 {
		return lines[i]
	}
	return ""
}

// same fails if the members' data differ.
func same(t *testing.T, e *Ensemble) {
	t.Helper()
	for _, s := range e.Servers() {
		got, want := s.Snapshot(), e.Leader().Snapshot()
		for got.Zxid() != want.Zxid() { // what a client that has gone had sent may still be carried out
			until(t, s, func(v *View) bool { return v.Zxid() >= want.Zxid() })
			got, want = s.Snapshot(), e.Leader().Snapshot()
		}
		if got, want := dumped(got), dumped(want); got != want {
			t.Errorf("the trees differ:\n%s\nthe leader's:\n%s", got, want)
		}
	}
}

// dumped lists a tree's nodes.
func dumped(tree *Tree) string {
	var b strings.Builder
	for _, path := range sortedKeys(tree.nodes) {
		n := tree.nodes[path]
		b.WriteString(strings.Join([]string{path, string(n.data), time.UnixMilli(n.stat.Mtime).String()}, " ") + "\n")
	}
	return b.String()
}
