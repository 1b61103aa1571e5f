package door_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A guarded write of a job's leader finds that the marker is another, or was written, just
// before the write is carried out. Leadership is lost then, whichever code the server
// answers with, and nothing is written.
func TestAJobsGuardIsRefused(t *testing.T) {
	const marker = "/job/leader/election/instance"
	set := zkmem.Op{Code: zkmem.OpSetData, Path: marker, Data: []byte("other"), Version: zkmem.AnyVersion}
	remove := zkmem.Op{Code: zkmem.OpDelete, Path: marker, Version: zkmem.AnyVersion}
	another := zkmem.Op{Code: zkmem.OpCreate, Path: marker, ACL: zkmem.OpenACL()}
	for name, ops := range map[string][]zkmem.Op{"set": {set}, "deleted": {remove}, "replaced": {remove, another}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				held := awaitJob(t, w)
				var once sync.Once
				w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
					if r.Op == zkmem.OpMulti {
						once.Do(func() {
							for _, op := range ops {
								if _, err := w.srv.Do(op); err != nil {
									t.Error(err)
								}
							}
						})
					}
					return zkmem.Verdict{}
				})
				results, err := held.Write(t.Context(), incumbent.CreateNode("/data", nil))
				if !errors.Is(err, incumbent.ErrLeadershipLost) || results != nil {
					t.Errorf("the write's error is %v, with the results %v: want ErrLeadershipLost, and none", err,
						results)
				}
				if w.srv.Snapshot().Exists("/data") {
					t.Error("the write was carried out")
				}
				if name == "replaced" { // the operator's node is in the way of the next term
					must(w.srv.Do(remove))
				}
				held.Release()
			})
		})
	}
}

// If the server refuses an operation of the user's with the same code, leadership goes on.
func TestAJobsWriteIsRefused(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		held := awaitJob(t, w)
		must(w.srv.Do(zkmem.Op{Code: zkmem.OpCreate, Path: "/data", ACL: zkmem.OpenACL()}))
		for code, op := range map[events.Code]incumbent.Op{events.BadVersion: incumbent.SetData("/data", nil, 7),
			events.NoNode: incumbent.DeleteNode("/other", incumbent.AnyVersion)} {
			results, err := held.Write(t.Context(), op)
			var refused *incumbent.Error
			if errors.Is(err, incumbent.ErrLeadershipLost) || !errors.As(err, &refused) || refused.Code != code ||
				len(results) != 1 {
				t.Errorf("the write's error is %v, with the results %v: want %s, and one result", err, results, code)
			}
		}
		if err := held.Check(); err != nil {
			t.Errorf("leadership was lost: %v", err)
		}
		held.Release()
	})
}

// awaitJob returns a leadership of a job, a minute old.
func awaitJob(t *testing.T, w *world) *incumbent.Leadership {
	t.Helper()
	j := must(w.open(timeouts(15*time.Second, 2*time.Second)).JobElection("/job", incumbent.JobElectionOptions{}))
	fine(t, j.Start())
	held := must(j.Await(t.Context()))
	pass(time.Minute)
	return held
}
