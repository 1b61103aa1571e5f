package proxy_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/proxy"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// quiet is how long silence is listened to: it can only make a test pass that should not, never fail one that should.
const quiet = 50 * time.Millisecond

// through returns a link with one connection over it: what the dialler holds, and what the target holds.
func through(t *testing.T, options ...proxy.Option) (l *proxy.Link, near, far net.Conn) {
	t.Helper()
	target, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	t.Cleanup(func() { target.Close() })
	l, err = proxy.New(target.Addr().String(), options...)
	ok(t, err)
	t.Cleanup(l.Close)
	near, err = net.Dial("tcp", l.Addr())
	ok(t, err)
	far, err = target.Accept()
	ok(t, err)
	t.Cleanup(func() { near.Close(); far.Close() })
	for _, c := range []net.Conn{near, far} {
		ok(t, c.SetDeadline(time.Now().Add(repeat.Enough)))
	}
	say(t, near, "hello")
	hear(t, far, "hello")
	return l, near, far
}

var ok = kit.OK

func say(t *testing.T, c net.Conn, words string) {
	t.Helper()
	_, err := io.WriteString(c, words)
	ok(t, err)
}

func hear(t *testing.T, c net.Conn, words string) {
	t.Helper()
	got := make([]byte, len(words))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != words {
		t.Fatalf("read %q and %v, want %q", got, err, words)
	}
}

func hearNothing(t *testing.T, c net.Conn) {
	t.Helper()
	ok(t, c.SetReadDeadline(time.Now().Add(quiet)))
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %d bytes and %v, want silence", n, err)
	}
	ok(t, c.SetReadDeadline(time.Now().Add(repeat.Enough)))
}

func hearTheEnd(t *testing.T, c net.Conn) {
	t.Helper()
	if n, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %d bytes and %v, want the end", n, err)
	}
}

func TestOneWayGoesSilentAndTheOtherGoesOn(t *testing.T) {
	l, near, far := through(t)
	l.Silence(proxy.Forth)
	say(t, near, "held")
	hearNothing(t, far)
	say(t, far, "passed")
	hear(t, near, "passed")
	l.Heal()
	hear(t, far, "held")
}

func TestSilenceHoldsTheEndToo(t *testing.T) {
	l, near, far := through(t)
	l.Silence(proxy.Forth)
	say(t, near, "last words")
	ok(t, near.Close())
	hearNothing(t, far)
	l.Heal()
	hear(t, far, "last words")
	hearTheEnd(t, far)
}

func TestHalfAConnectionMayEnd(t *testing.T) {
	_, near, far := through(t)
	ok(t, near.(*net.TCPConn).CloseWrite())
	hearTheEnd(t, far)
	say(t, far, "still here")
	hear(t, near, "still here")
}

func TestDelayKeepsTheOrder(t *testing.T) {
	l, near, far := through(t)
	l.Delay(proxy.Back, quiet)
	begun := time.Now()
	say(t, far, "one")
	say(t, far, "two")
	hear(t, near, "onetwo")
	if took := time.Since(begun); took < quiet {
		t.Fatalf("arrived after %s, want %s or more", took, quiet)
	}
	l.Delay(proxy.Back, time.Hour)
	say(t, far, "late")
	hearNothing(t, near)
	l.Heal()
	hear(t, near, "late")
}

func TestACutIsToldToBothAndRefuses(t *testing.T) {
	l, near, far := through(t)
	l.Cut()
	hearTheEnd(t, near)
	hearTheEnd(t, far)
	again, err := net.Dial("tcp", l.Addr())
	if err != nil {
		return // that early
	}
	defer again.Close()
	ok(t, again.SetDeadline(time.Now().Add(repeat.Enough)))
	hearTheEnd(t, again)
}

func TestCutOneEndIsSeenByOneEndOnly(t *testing.T) {
	for name, end := range map[string]proxy.Direction{"the dialler": proxy.Forth, "the target": proxy.Back} {
		t.Run(name, func(t *testing.T) {
			l, near, far := through(t)
			ends := [2]net.Conn{near, far}
			l.CutOneEnd(end)
			hearTheEnd(t, ends[end])
			say(t, ends[1-end], "anybody there?")
			hearNothing(t, ends[1-end])
			l.Heal()
			hearTheEnd(t, ends[1-end])
		})
	}
}

func TestTheGreetingIsRewrittenAndNothingElse(t *testing.T) {
	swap := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("a"), []byte("b")) }
	target, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	defer target.Close()
	l, err := proxy.New(target.Addr().String(), proxy.Rewrite(swap))
	ok(t, err)
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr())
	ok(t, err)
	defer near.Close()
	far, err := target.Accept()
	ok(t, err)
	defer far.Close()
	say(t, near, "banana")
	hear(t, far, "bbnbnb")
	say(t, near, "banana")
	hear(t, far, "banana")
	say(t, far, "banana")
	hear(t, near, "banana")
}

func TestCloseLeavesNothing(t *testing.T) {
	l, near, far := through(t)
	l.Silence(proxy.Forth)
	l.Delay(proxy.Back, time.Hour)
	say(t, near, "held")
	say(t, far, "late")
	l.Close()
	hearTheEnd(t, near)
	if n := l.Open(); n != 0 {
		t.Fatalf("%d connections are left", n)
	}
}

func TestATargetMayComeALittleLater(t *testing.T) {
	addr, err := zkmem.FreeAddr()
	ok(t, err)
	l, err := proxy.New(addr)
	ok(t, err)
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr())
	ok(t, err)
	defer near.Close()
	say(t, near, "hello")
	target, err := net.Listen("tcp", addr)
	ok(t, err)
	defer target.Close()
	far, err := target.Accept()
	ok(t, err)
	defer far.Close()
	hear(t, far, "hello")
}
