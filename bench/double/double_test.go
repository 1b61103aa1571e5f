package double

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

var small = Load{Sessions: 3, Nodes: 50, Rate: 300, For: 100 * time.Millisecond}

// inThisProcess is a server that tests can look into.
func inThisProcess(seen *[]*zkmem.Server) func(context.Context) (string, int, func(), error) {
	return func(context.Context) (string, int, func(), error) {
		s := zkmem.New(zkmem.Options{})
		*seen = append(*seen, s)
		err := s.Listen("127.0.0.1:0")
		return s.Addr(), os.Getpid(), s.Close, err
	}
}

// A round has the nodes created and as many requests sent as the rate says, on a server of its own.
func TestARoundGivesTheServerItsLoad(t *testing.T) {
	var seen []*zkmem.Server
	servers := []Server{{Label: "a", Start: inThisProcess(&seen)}, {Label: "b", Start: inThisProcess(&seen)}}
	all, err := small.Rounds(t.Context(), 2, servers, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != 4 || len(all["a"]) != 2 || len(all["b"]) != 2 {
		t.Fatalf("%d servers, %d and %d rounds", len(seen), len(all["a"]), len(all["b"]))
	}
	for label, rounds := range all {
		for _, f := range rounds {
			if len(f.Answers) != 30 || f.Start <= 0 || f.Creates <= 0 || f.RSS == 0 {
				t.Errorf("%s: %d answers, %+v", label, len(f.Answers), f)
			}
		}
	}
	text := small.Markdown(servers, all)
	for _, want := range []string{"#### 3 sessions, 50 nodes, 300 requests a second", "\n| a | ", "\n| b | ",
		"\n2 rounds.\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "–  |") || strings.Contains(text, "NaN") {
		t.Errorf("a figure is missing:\n%s", text)
	}
}

// The load reaches the server that is measured: a fifth of the requests are writes.
func TestTheLoadReachesTheServer(t *testing.T) {
	var seen []*zkmem.Server
	start := inThisProcess(&seen)
	if _, err := small.Measure(t.Context(), Server{Label: "a", Start: start}); err != nil {
		t.Fatal(err)
	}
	done := seen[0].Counts().ByOp
	if done[zkmem.OpCreate] != 51 || done[zkmem.OpSetData] != 6 || done[zkmem.OpGetData] != 24 {
		t.Errorf("the server counted %v; want 50 nodes and their folder, 6 writes, 24 reads", done)
	}
}
