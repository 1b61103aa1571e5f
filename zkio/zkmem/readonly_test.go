package zkmem

import (
	"strings"
	"testing"
	"time"
)

// A member without a quorum serves clients that ask for a read-only server, if it may, from what it has.
func TestAReadOnlyMember(t *testing.T) {
	e, leader, followers := three(t, Options{ReadOnlyMode: true})
	cut := followers[0]
	newSession(t, leader, time.Minute).mustCreate("/n", Persistent)
	c := newSession(t, cut, time.Minute)
	do(t, e.Isolate(cut))
	e.Advance(limit)
	mode(t, cut, "read-only")
	c.gone()
	if _, answered := overPipe(t, cut).handshake(0, nil, 0, false); answered {
		t.Error("a client that wants to write is served")
	}
	if _, answered := overPipe(t, cut).handshake(c.session, c.secret, 0, true); answered {
		t.Error("a session of the ensemble is taken")
	}
	r := overPipe(t, cut)
	if readOnly, answered := r.handshake(0, nil, 0, true); !answered || !readOnly {
		t.Fatal("a read-only client is not served")
	}
	r.sees("/n", OK)
	for op, body := range map[OpCode]func(*encoder){OpCreate: create("/m", Persistent), OpSync: func(e *encoder) {
		e.text("/")
	}} {
		if code, _, err := r.ask(op, body); code != NotReadOnly || err != nil {
			t.Errorf("%v: %v %v", op, code, err)
		}
	}
	if code, _, err := r.ask(OpPing, nil); code != OK || err != nil {
		t.Errorf("ping: %v %v", code, err)
	}
	if word(t, cut, "isro") != "ro" || line(word(t, cut, "srvr"), "Mode") != "Mode: read-only" {
		t.Errorf("isro %q, srvr %q", word(t, cut, "isro"), word(t, cut, "srvr"))
	}
	again := overPipe(t, cut)
	if _, answered := again.handshake(r.session, r.secret, 0, true); !answered || again.session != r.session {
		t.Error("a read-only session does not go on")
	}
	do(t, e.Reconnect(cut))
	again.gone()
	w := overPipe(t, cut)
	if readOnly, answered := w.handshake(0, nil, 0, true); !answered || readOnly {
		t.Error("it is still read-only")
	}
	w.mustCreate("/m", Persistent)
	if over := overPipe(t, cut); true {
		if over.handshake(r.session, r.secret, 0, true); over.session != 0 {
			t.Error("a read-only session has become one of the ensemble")
		}
	}
}

// Each member says what it is.
func TestWordsOfMembers(t *testing.T) {
	e, leader, followers := three(t, Options{})
	for s, want := range map[*Server]string{leader: "leader", followers[0]: "follower", followers[1]: "follower"} {
		if got := line(word(t, s, "srvr"), "Mode"); got != "Mode: "+want {
			t.Errorf("srvr: %q, want %s", got, want)
		}
		if got := line(word(t, s, "mntr"), "zk_server_state"); got != "zk_server_state\t"+want {
			t.Errorf("mntr: %q, want %s", got, want)
		}
		if got := word(t, s, "isro"); got != "rw" {
			t.Errorf("isro: %q", got)
		}
		if conf := word(t, s, "conf"); !strings.Contains(conf, "syncLimit=5\n") ||
			!strings.Contains(conf, "server.3=") {
			t.Errorf("conf: %q", conf)
		}
	}
	if got := line(word(t, leader, "mntr"), "zk_synced_followers"); got != "zk_synced_followers\t2" {
		t.Errorf("mntr of the leader: %q", got)
	}
	for _, s := range followers {
		do(t, e.Isolate(s))
	}
	e.Advance(limit)
	for name, want := range map[string]string{"ruok": "imok", "isro": "null", "srvr": "not currently serving",
		"mntr": "not currently serving", "stat": "not currently serving"} {
		if got := word(t, leader, name); !strings.Contains(got, want) {
			t.Errorf("%s of a member without a quorum: %q", name, got)
		}
	}
}
