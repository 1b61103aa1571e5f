package oneserver

import (
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func lineOf(t *testing.T) Server {
	t.Helper()
	s := New(100)
	s.Open(7)
	s.Put("/l", zkmem.Persistent, 0)
	if ev, _ := s.Do(7, events.Create{Path: "/l/p-", Mode: events.EphemeralSequential, Data: []byte("A")}); ev.Path !=
		"/l/p-0000000000" || ev.Zxid != 102 {
		t.Fatalf("%+v", ev)
	}
	return s
}

// A copy is a fork: whatever changes the one, the other stays as it was.
func TestACopyIsAFork(t *testing.T) {
	for name, change := range map[string]func(s *Server){
		"create":  func(s *Server) { s.Do(7, events.Create{Path: "/l/p-", Mode: events.EphemeralSequential}) },
		"delete":  func(s *Server) { s.Do(7, events.Delete{Path: "/l/p-0000000000"}) },
		"set":     func(s *Server) { s.Set("/l/p-0000000000") },
		"session": func(s *Server) { s.Open(8) },
		"end":     func(s *Server) { s.End(7) },
	} {
		s := lineOf(t)
		fork := s
		change(&fork)
		if !slices.Equal(s.Paths(), []string{"/l", "/l/p-0000000000"}) || s.Zxid() != 102 ||
			!slices.Equal(s.Sessions(), []int64{7}) ||
			s.Stat("/l/p-0000000000").Version != 0 || string(s.Data("/l/p-0000000000")) != "A" {
			t.Errorf("%s in a fork shows: %v at %d", name, s.Paths(), s.Zxid())
		}
		if slices.Equal(fork.Paths(), s.Paths()) && fork.Zxid() == s.Zxid() && len(fork.Sessions()) == 1 {
			t.Errorf("%s does nothing", name)
		}
	}
}

// What is refused changes nothing, is no transaction, and says what is at fault.
func TestARefusalIsNoTransaction(t *testing.T) {
	for _, c := range []struct {
		session int64
		r       events.Request
		code    events.Code
		path    string
	}{
		{7, events.Create{Path: "/l"}, events.NodeExists, ""},
		{7, events.Create{Path: "/x/y"}, events.NoNode, ""},
		{8, events.Create{Path: "/x", Mode: events.Ephemeral}, events.SessionExpired, ""},
		{7, events.Delete{Path: "/l"}, events.NotEmpty, ""},
		{7,
			events.Multi{Ops: []events.Op{{Verb: "set", Path: "/l", Version: -1},
				{Verb: "check", Path: "/x", Version: -1}}}, events.NoNode, "/x"},
		{7, events.Multi{Ops: []events.Op{{Verb: "set", Path: "/l", Version: 3}}}, events.BadVersion, "/l"},
	} {
		s := lineOf(t)
		ev, told := s.Do(c.session, c.r)
		if ev.Code != c.code || ev.Path != c.path || told != nil || s.Zxid() != 102 || s.Stat("/l").Version != 0 {
			t.Errorf("%s: %+v, %v at %d", c.r, ev, told, s.Zxid())
		}
	}
}

// The end of a session takes its nodes, and watches are told of both sorts.
func TestASessionEndsWithItsNodes(t *testing.T) {
	s := lineOf(t)
	var told []events.Kind
	for _, e := range s.End(7) {
		told = append(told, Kind(e.Type))
	}
	if !slices.Equal(told, []events.Kind{events.WatchDeleted, events.WatchChildren}) ||
		!slices.Equal(s.Paths(), []string{"/l"}) || len(s.Sessions()) != 0 {
		t.Errorf("%v, %v, %v", told, s.Paths(), s.Sessions())
	}
}
