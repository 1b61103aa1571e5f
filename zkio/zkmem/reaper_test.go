package zkmem

import (
	"testing"
	"time"
)

// The reaper may be due before New has returned.
func TestTheReaperAwaitsItsServer(t *testing.T) {
	for range 20_000 {
		New(Options{ContainerInterval: time.Nanosecond}).Close()
	}
}

// The number of what is reaped is that of the nodes that are gone: an operator goes on until it is 0.
func TestWhatIsReapedIsCounted(t *testing.T) {
	s := Start(t)
	for _, path := range []string{"/a", "/b", "/kept"} {
		s.Do(Op{Code: OpCreateContainer, Path: path, ACL: OpenACL()})
		s.Create(path+"/x", nil, Persistent)
		if path != "/kept" {
			s.Delete(path + "/x")
		}
	}
	if first, again := s.ReapContainers(), s.ReapContainers(); first != 2 || again != 0 {
		t.Errorf("%d containers are reaped, then %d, want 2 and none", first, again)
	}
}
