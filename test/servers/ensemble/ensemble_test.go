package ensemble_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

// short has servers notice within a second or two what takes ten by default.
var short = ensemble.Options{Tick: 300 * time.Millisecond, SyncLimit: 3}

// A server that the machine pauses for a second is parted from the others as well, and another may lead then.
func TestThreeServersLoseAndFindEachOther(t *testing.T) { repeat.Rounds(t, threeLoseAndFindEachOther) }

func threeLoseAndFindEachOther(t *repeat.Round) {
	begun := time.Now()
	e := ensemble.Start(t, short)
	leader, followers := e.Whole()
	t.Logf("%s leads after %s", leader, time.Since(begun).Round(time.Millisecond))

	leader.Kill()
	next := e.Leader(followers...)
	leader.Restart()
	leader, followers = e.Whole()
	stays(t, leader, next)

	t.Run("parted from its leader a follower stops to serve, and comes back", func(t *testing.T) {
		e.Part(followers[0], leader)
		gone(t, followers[0])
		e.Heal()
		e.Whole()
	})
	t.Run("one way is enough", func(t *testing.T) {
		e.Silence(leader, followers[1])
		gone(t, followers[1])
		e.Heal()
		e.Whole()
	})
	t.Run("an isolated leader is replaced, and follows", func(t *testing.T) {
		e.Isolate(leader)
		gone(t, leader)
		next = e.Leader(followers...)
		e.Heal()
		leader, _ = e.Whole()
	})
	stays(t, leader, next)
	t.Run("a leader whose links are cut unseen goes on for a while", func(t *testing.T) {
		leader, followers := e.Whole()
		e.CutUnseen(leader)
		next := e.Leader(followers...)
		t.Logf("%s says that it is a %q when %s leads", leader, leader.Mode(), next)
		gone(t, leader)
		e.Heal()
		e.Whole()
	})
}

func TestAPausedLeaderIsReplaced(t *testing.T) { repeat.Rounds(t, aPausedLeaderIsReplaced) }

func aPausedLeaderIsReplaced(t *repeat.Round) {
	e := ensemble.Start(t, short)
	leader, followers := e.Whole()
	leader.Pause()
	next := e.Leader(followers...)
	leader.Resume()
	again, _ := e.Whole()
	stays(t, again, next)
}

// stays demands that the ensemble's leader is the one of before. The servers bear a pause of three ticks.
func stays(t *repeat.Round, leader, before *ensemble.Server) {
	t.Helper()
	if leader != before {
		t.Spoilt(500*time.Millisecond, "%s leads, and %s did before", leader, before)
	}
}

func TestAWipedEnsembleHasNoPast(t *testing.T) {
	e := ensemble.Start(t, short)
	if _, err := connect(t, e).Create("/past", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	e.Wipe()
	if there, _, err := connect(t, e).Exists("/past"); err != nil || there {
		t.Fatal("it remembers:", there, err)
	}
}

// gone waits until a server serves nobody.
func gone(t *testing.T, s *ensemble.Server) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(enough); s.Mode() != ""; <-ticker.C { // pause: between looks at a server
		if time.Now().After(end) {
			t.Fatalf("%s is still a %s", s, s.Mode())
		}
	}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func connect(t *testing.T, e *ensemble.Ensemble) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{e.Servers()[0].Addr()}, 5*time.Second, zk.WithDialer(realzk.Dial),
		zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}
