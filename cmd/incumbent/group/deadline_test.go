//go:build unix

package group

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

// maxLate is how late a guard may be. A machine that is busy is later now and then, but not each time.
const (
	maxLate  = 300 * time.Millisecond
	attempts = 20
)

// The guard kills at its time, never before it, also if nobody reads its last line.
func TestTheGuardKillsAtItsTime(t *testing.T) {
	for name, held := range map[string]func(*testing.T) *os.File{
		"read": nil, "full pipe": programtest.FullPipe, "closed pipe": programtest.ClosedPipe,
	} {
		t.Run(name, func(t *testing.T) {
			if held != nil {
				before := os.Stderr
				os.Stderr = held(t)
				defer func() { os.Stderr = before }()
			}
			var late time.Duration
			for range attempts {
				g, out := script(t, stubborn)
				read(t, out, "up\n")
				at := time.Now().Add(50 * time.Millisecond)
				if err := g.Until(at); err != nil {
					t.Fatal(err)
				}
				ends(t, out)
				late = time.Since(at)
				if late < 0 {
					t.Fatalf("the group was killed %s before its time", -late)
				}
				if err := g.Kill(); err != nil {
					t.Fatal(err)
				}
				if late < maxLate {
					return
				}
			}
			t.Errorf("the group was killed %s after its time, and no earlier in %d attempts", late, attempts)
		})
	}
}

// A guard that was killed is replaced, and the new one ends the group when the program has died.
func TestAnotherGuardTakesItsPlace(t *testing.T) {
	g, out := script(t, stubborn)
	read(t, out, "up\n")
	for range 3 {
		_ = g.guard.cmd.Process.Kill() // the test would fail at the next line
		gone(t, g)
		if err := <-g.Replace(); err != nil {
			t.Fatal(err)
		}
		if err := g.Until(time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	g.guard.in.Close() // what the end of a process does
	ends(t, out)
	if err := g.Kill(); err != nil {
		t.Error(err)
	}
	if err := <-g.Replace(); err == nil {
		t.Error("a group that has ended got another guard")
	}
}

// A guard that replaces another knows the time that was set last: the program may be stopped, and say no more.
func TestAnotherGuardKnowsTheTime(t *testing.T) {
	g, out := script(t, stubborn)
	read(t, out, "up\n")
	_ = g.guard.cmd.Process.Kill() // the test would fail at the next line
	gone(t, g)
	_ = g.Until(time.Now()) // it may fail: nobody reads the line
	if err := <-g.Replace(); err != nil {
		t.Fatal(err)
	}
	ends(t, out)
}

func gone(t *testing.T, g *Group) {
	t.Helper()
	select {
	case <-g.Gone():
	case <-time.After(limit):
		t.Fatal("nobody has seen that the guard is gone")
	}
}

// Kill during a replacement leaves no guard.
func TestKillEndsAGuardThatIsBeingStarted(t *testing.T) {
	g, out := script(t, stubborn)
	read(t, out, "up\n")
	_ = g.guard.cmd.Process.Kill() // the test would fail at the next line
	gone(t, g)
	outcome := g.Replace()
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	<-outcome
	if alive(g.ID(), syscall.Kill(-g.ID(), 0)) {
		t.Error("processes are left in the group")
	}
	ends(t, out)
}

// A guard that was stopped is woken by the next call of Until. One that reads nothing is
// killed.
func TestAStoppedGuardHoldsNobodyUp(t *testing.T) {
	g, out := script(t, stubborn)
	read(t, out, "up\n")
	if err := g.first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := g.Until(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	ends(t, out)

	g, out = script(t, stubborn)
	read(t, out, "up\n")
	g.first.in.Close()
	g.first.in = programtest.FullPipe(t) // as if it had read nothing for long
	if err := g.Until(time.Now().Add(time.Hour)); err == nil {
		t.Fatal("a full pipe took a line")
	}
	gone(t, g)
}

// Kill returns when the last one of many has ended.
func TestKillWaitsForAll(t *testing.T) {
	g, out := script(t, `for i in $(seq 200); do sleep 1000 & done; echo up; wait`)
	read(t, out, "up\n")
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	if alive(g.ID(), syscall.Kill(-g.ID(), 0)) {
		t.Error("processes are left in the group")
	}
}
