package world

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestARestoreLosesWhatAFrozenLeaderWasSent restores a backup while the leader stands
// still with a write that it has not committed.
func TestARestoreLosesWhatAFrozenLeaderWasSent(t *testing.T) {
	e := play(t, three("latch"), 5*time.Second).w.Ensemble()
	e.BackUp()
	before := e.Committed().Zxid()
	if err := e.Leader().Freeze(time.Hour); err != nil {
		t.Fatal(err)
	}
	e.Operate(zkmem.Op{Code: zkmem.OpCreate, Path: "/late", ACL: zkmem.OpenACL()})
	e.w.Until(e.w.Now() + int64(time.Second)) // its disk has it, and the leader does not look
	if err := e.Restore(false); err != nil {
		t.Fatal(err)
	}
	if after := e.Committed().Zxid(); after != before || e.Committed().Exists("/late") {
		t.Errorf("the backup's last transaction is %x, and the restored data's %x", before, after)
	}
}

// TestARestoredServerHasNothingFromBefore restores a backup while a follower stands still, with commits that it has not applied.
func TestARestoredServerHasNothingFromBefore(t *testing.T) {
	e := play(t, three("latch"), 5*time.Second).w.Ensemble()
	e.BackUp()
	var still *Server
	for _, s := range e.servers {
		if s != e.Leader() {
			still = s
		}
	}
	if err := still.Freeze(time.Hour); err != nil {
		t.Fatal(err)
	}
	e.Operate(zkmem.Op{Code: zkmem.OpCreate, Path: "/before", ACL: zkmem.OpenACL()})
	for range 50 { // more than is committed until the end
		e.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: "/before", Version: -1})
	}
	e.w.Until(e.w.Now() + int64(time.Second))
	if !e.Committed().Exists("/before") {
		t.Fatal("nothing was committed")
	}
	if err := e.Restore(false); err != nil {
		t.Fatal(err)
	}
	e.w.Until(e.w.Now() + int64(5*time.Second))
	e.Operate(zkmem.Op{Code: zkmem.OpCreate, Path: "/after", ACL: zkmem.OpenACL()})
	e.w.Until(e.w.Now() + int64(5*time.Second))
	for _, s := range e.servers {
		if s.tree.Exists("/before") || !s.tree.Exists("/after") {
			t.Errorf("server %d has what was before: %t, and what came after: %t", s.ID(), s.tree.Exists("/before"), s.tree.Exists("/after"))
		}
	}
}
