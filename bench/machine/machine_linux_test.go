package machine

import (
	"math"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestTheFirstLineOfStatIsRead(t *testing.T) {
	busy, all, err := parseStat("cpu  100 20 30 700 50 1 2 7 90 9\ncpu0 1 2 3\n")
	if err != nil || busy != 160*tick || all != 910*tick {
		t.Errorf("busy %v of %v, %v", busy, all, err)
	}
	for _, wrong := range []string{"", "cpu 1 2 3", "cpu a 2 3 4 5 6 7 8 9 10", "intr 1 2 3 4 5 6 7 8 9"} {
		if _, _, err := parseStat(wrong); err == nil {
			t.Errorf("nothing wrong with %q?", wrong)
		}
	}
}

func TestAParentIsReadBehindAnyName(t *testing.T) {
	if parent, ok := parentIn("17 (a ) 5 (b) S 42 17 17 0"); !ok || parent != 42 {
		t.Errorf("the parent is %d, %t", parent, ok)
	}
	got := descendants(map[int]int{2: 1, 3: 2, 4: 3, 5: 9, 9: 1, 1: 0, 0: 0}, 2)
	slices.Sort(got)
	if !slices.Equal(got, []int{2, 3, 4}) {
		t.Errorf("the descendants are %v", got)
	}
}

func TestOthersAreWhatIsBusyAndNotOurs(t *testing.T) {
	for name, c := range map[string]struct {
		from, to Snapshot
		want     float64
	}{
		"half of it ours":       {Snapshot{10, 100, 10}, Snapshot{60, 200, 40}, 0.2},
		"all of it ours":        {Snapshot{0, 0, 0}, Snapshot{50, 100, 50}, 0},
		"the clocks differ":     {Snapshot{0, 0, 0}, Snapshot{50, 100, 51}, 0},
		"at the same moment":    {Snapshot{5, 5, 0}, Snapshot{5, 5, 0}, 0},
		"nothing of it is ours": {Snapshot{0, 0, 7}, Snapshot{100, 100, 7}, 1},
	} {
		if got := c.from.Others(c.to); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What a child uses is our own while it lives and after it was awaited, and is seen from outside.
func TestAChildIsOurs(t *testing.T) {
	before, err := Take()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo; read end")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = out.Read(make([]byte, 1)) // it has counted
	if err != nil {
		t.Fatal(err)
	}
	used, err := CPU(child.Process.Pid)
	if err != nil || used < time.Millisecond {
		t.Errorf("the child used %v: %v", used, err)
	}
	during, err := Take()
	if err != nil {
		t.Fatal(err)
	}
	if rss, err := RSS(child.Process.Pid); err != nil || rss < 64<<10 || rss > 1<<30 {
		t.Errorf("the child has %d bytes: %v", rss, err)
	}
	in.Close()
	child.Wait()
	after, err := Take()
	if err != nil {
		t.Fatal(err)
	}
	if during.own-before.own < used || after.own < during.own {
		t.Errorf("own are %v, then %v with a child that used %v, then %v", before.own, during.own, used, after.own)
	}
	if after.busy <= 0 || after.all < after.busy {
		t.Errorf("the machine was busy for %v of %v", after.busy, after.all)
	}
	if _, err := CPU(child.Process.Pid); err == nil {
		t.Error("a process that has ended has a CPU clock")
	}
}
