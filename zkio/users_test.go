package zkio

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"testing"
	"time"
)

// notingConn notes which of its methods are called.
type notingConn struct {
	net.Conn
	called *[]string
}

// errNoted is what each of them returns.
var errNoted = errors.New("noted")

func (c notingConn) note(method string) error {
	*c.called = append(*c.called, method)
	return errNoted
}

func (c notingConn) Read([]byte) (int, error)         { return 1, c.note("Read") }
func (c notingConn) Write([]byte) (int, error)        { return 2, c.note("Write") }
func (c notingConn) Close() error                     { return c.note("Close") }
func (c notingConn) SetDeadline(time.Time) error      { return c.note("SetDeadline") }
func (c notingConn) SetReadDeadline(time.Time) error  { return c.note("SetReadDeadline") }
func (c notingConn) SetWriteDeadline(time.Time) error { return c.note("SetWriteDeadline") }

// A connection of Config.Dial gets each call, and what it returns is returned.
func TestAUsersConnectionGetsEachCall(t *testing.T) {
	var called []string
	c := userConn{notingConn{called: &called}}
	read, err1 := c.Read(nil)
	written, err2 := c.Write(nil)
	errs := []error{err1, err2}
	for _, call := range []func(time.Time) error{c.SetDeadline, c.SetReadDeadline, c.SetWriteDeadline} {
		errs = append(errs, call(time.Time{}))
	}
	for i, err := range append(errs, c.Close()) {
		if err != errNoted {
			t.Errorf("the call %d returns %v", i, err)
		}
	}
	want := []string{"Read", "Write", "SetDeadline", "SetReadDeadline", "SetWriteDeadline", "Close"}
	if read != 1 || written != 2 || !slices.Equal(called, want) {
		t.Errorf("%d, %d, and the calls %q", read, written, called)
	}
}

// A session of TLS that a user's cache holds is resumed.
func TestAUsersCacheIsAsked(t *testing.T) {
	c, session := guardedCache{"the cache", tls.NewLRUClientSessionCache(1)}, &tls.ClientSessionState{}
	if got, ok := c.Get("a"); got != nil || ok {
		t.Errorf("an empty cache has %v, %t", got, ok)
	}
	c.Put("a", session)
	if got, ok := c.Get("a"); got != session || !ok {
		t.Errorf("the cache has %v, %t", got, ok)
	}
}

// A server that has answered is as good as one that was never silent.
func TestAnAnswerEndsTheSilence(t *testing.T) {
	for name, c := range map[string]target{
		"with addresses": {server: "zk", addresses: []address{{text: "10.0.0.1:2181"}, {text: "10.0.0.2:2181"}}},
		"of a dialler":   {server: "zk"},
	} {
		of := "10.0.0.1:2181"
		if len(c.addresses) == 0 {
			of = ""
		}
		c.noteSilence(of, 5)
		silent := c.silentAt == 5 || len(c.addresses) > 0 && c.addresses[0].silentAt == 5
		c.noteAnswer(of)
		still := slices.ContainsFunc(c.addresses, func(a address) bool { return a.silentAt != 0 })
		if !silent || c.silentAt != 0 || still {
			t.Errorf("%s: it was silent: %t, and is %+v after an answer", name, silent, c)
		}
	}
}

// A path may have each character that ZooKeeper takes, also those beyond the first 65,536.
func TestCharactersOfPaths(t *testing.T) {
	for path, want := range map[string]bool{
		"/a": true, "/ä": true, "/😀": true, "/\U0010ffff": true, "/\ue000": false, "/\ufff5": false, "/\x1f": false,
		"/\u007f": false, "/\u0080": false, "/\xff": false,
	} {
		if got := validPath(path, false); got != want {
			t.Errorf("%q is valid: %t, want %t", path, got, want)
		}
	}
}
