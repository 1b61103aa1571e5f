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
