package doctor

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/internal/jute"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Three figures, whatever the size.
func TestDurationsAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		123456 * time.Microsecond: "123ms", 9_999 * time.Microsecond: "10ms", 9_994 * time.Microsecond: "9.99ms",
		10 * time.Millisecond: "10ms", 999 * time.Millisecond: "999ms", time.Second: "1s",
		1_234 * time.Millisecond: "1.23s",
		9_994 * time.Millisecond: "9.99s", 10 * time.Second: "10s", 12_345 * time.Millisecond: "12.3s",
		15 * time.Microsecond: "20µs", 0: "0s",
	} {
		if got := short(d); got != want {
			t.Errorf("%d ns: %q, want %q", d, got, want)
		}
	}
}

// A disk is slow from a bound on, and not at it.
func TestASlowDisk(t *testing.T) {
	for fsync, want := range map[time.Duration]int{slowDisk: 0, slowDisk + 1: 1, 0: 0} {
		f := &Facts{servers: []*Server{{Address: "zk:2181", Serves: true, fsync: fsync}}}
		if got := checkDisks(f); len(got) != want {
			t.Errorf("%s: %v", fsync, got)
		}
	}
}

// A belief of nothing is said in words, and one of a moment in numbers.
func TestNobodyCanLeadInWords(t *testing.T) {
	for first, want := range map[Millis]bool{0: true, -1: true, Millis(time.Millisecond): false} {
		all := (&Meaning{Timeout: Millis(time.Second), First: first}).sentences()
		if got := slices.Contains(all, "Nobody can lead with it."); got != want {
			t.Errorf("first belief %d: %q", first, all)
		}
	}
}

// Notes are left out of the brief text, and of no other.
func TestTheBriefTextHasNoNotes(t *testing.T) {
	r := Report{Verdict: Warned, Findings: []Finding{{ID: "a-note", Severity: Note, Where: "zk", Is: "So.", Do: "Do."},
		{ID: "a-warning", Severity: Warning, Where: "zk", Is: "So.", Do: "Do."}}}
	for brief, want := range map[bool]int{true: 0, false: 1} {
		text := strings.Join(r.Text(brief), "\n")
		if strings.Count(text, "a-note") != want || strings.Count(text, "a-warning") != 1 {
			t.Errorf("brief: %v: %s", brief, text)
		}
	}
}

// The limits of a quota, which may be larger than 32 bits; -1 for those that are missing.
func TestLimitsOfAQuota(t *testing.T) {
	names := []string{"count", "bytes", "byteHardLimit", "countHardLimit"}
	for text, want := range map[string][]int64{
		"":                 {-1, -1, -1, -1},
		"count=7,bytes=-1": {7, -1, -1, -1},
		"count=1,bytes=8589934592=;byteHardLimit=17179869184;countHardLimit=010": {1, 8589934592, 17179869184, 10},
		"count=99999999999999999999,discount=3":                                  {-1, -1, -1, -1},
	} {
		got := limits(text)
		for i, name := range names {
			if got[name] != want[i] {
				t.Errorf("%q: %s is %d, want %d", text, name, got[name], want[i])
			}
		}
	}
}

// What a server answers is named if it has a name, and its number is said otherwise.
func TestRefusalsAreNamed(t *testing.T) {
	for code, want := range map[int32]string{codeNoNode: "there is no such node", codeNoAuth: "may not read it",
		-8: "with code -8"} {
		if got := refusal(code); !strings.Contains(got, want) {
			t.Errorf("%d: %q, want %q", code, got, want)
		}
	}
}

// Without settings, a client's own defaults count.
func TestTheDefaultsAreAClients(t *testing.T) {
	s := Settings{}.withDefaults()
	if s.Timeout != 15*time.Second || s.SyncLimit != 5 || s.Elections != 1 || s.MaxAnswer != 4<<20 ||
		s.Step != 3*time.Second || s.Leave != 2*time.Second {
		t.Errorf("%+v", s)
	}
	if s := (Settings{Step: time.Second, SyncLimit: 9}).withDefaults(); s.Leave != time.Second || s.SyncLimit != 9 {
		t.Errorf("%+v", s)
	}
}

// Places of two recipes may have one number: they are in different lines.
func TestEqualNumbersOfTwoRecipes(t *testing.T) {
	inBubble(t, "latch and lock", func(t *testing.T) {
		l := newLineWorld(t)
		l.place("a", 5)
		l.create("/jobs/nightly/_c_0123456789abcdef0123456789abcdef-lock-0000000005", "b", anns, zkmem.Ephemeral)
		if r := Examine(t.Context(), l.Settings); slices.ContainsFunc(r.Findings,
			func(f Finding) bool { return f.ID == "equal-numbers" }) {
			t.Errorf("found %q", ids(r))
		}
	})
}

// No session is left at a server that serves only readers, nor at any other.
func TestNoSessionIsLeft(t *testing.T) {
	for name, o := range map[string]zkmem.Options{"read-only": {ReadOnly: true}, "serving": {}} {
		inBubble(t, name, func(t *testing.T) {
			w, s := alone(t, o)
			Examine(t.Context(), w.settings())
			synctest.Wait()
			if left := s.Sessions(); len(left) != 0 {
				t.Errorf("%d sessions are left", len(left))
			}
		})
	}
}

// A directory for the scratch node that does not exist is named.
func TestNoDirectoryForTheScratchNode(t *testing.T) {
	inBubble(t, "missing", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{})
		ask := w.deep()
		ask.Scratch = "/missing"
		r := Examine(t.Context(), ask)
		found(t, r, "warning not-measured /missing")
		if len(r.NotAsked) != 1 || !strings.Contains(r.NotAsked[0].Why, "there is no directory /missing") {
			t.Errorf("not asked %v", r.NotAsked)
		}
	})
}

// The answer to a handshake: a session has an id and a timeout. A session that is asked for and not known has none.
func TestHandshakes(t *testing.T) {
	for _, c := range []struct {
		id, of  int64
		granted int32
		want    error
	}{
		{7, 0, 4000, nil}, {0, 0, 4000, errMalformed}, {7, 0, 0, errMalformed}, {7, 0, -1, errMalformed},
		{0, 0, 0, errMalformed}, {7, 7, 4000, nil}, {0, 7, 0, errExpired}, {7, 7, 0, errExpired},
		{0, 7, 4000, errExpired},
	} {
		if got := greeted(t, c.of, c.id, c.granted); got != c.want {
			t.Errorf("asked for %d, got %d with %d ms: %v, want %v", c.of, c.id, c.granted, got, c.want)
		}
	}
}

// greeted returns what a handshake comes to if the server answers with this session.
func greeted(t *testing.T, of, id int64, granted int32) error {
	t.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		defer theirs.Close()
		var length [4]byte
		if _, err := io.ReadFull(theirs, length[:]); err != nil {
			return
		}
		_, _ = io.CopyN(io.Discard, theirs, int64(binary.BigEndian.Uint32(length[:])))
		answer := jute.NewFrame().Int32(0).Int32(granted).Int64(id).Bytes(make([]byte, 16)).Bool(false)
		_, _ = theirs.Write(answer.Finish())
	}()
	s := Settings{}.withDefaults()
	c := s.newSession(t.Context(), "", ours)
	return c.handshake(time.Second, identity{of, make([]byte, 16)}, false)
}
