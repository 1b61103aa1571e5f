//go:build linux

package chaos

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

func connect(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{addr}, 40*time.Second, zk.WithDialer(realzk.Dial), zk.WithLogger(quiet{}),
		zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What compares the clocks ends with its test, also with one that is skipped.
func TestTheClocksAreComparedUntilTheTestEnds(t *testing.T) {
	var c *chronicle
	t.Run("a test", func(t *testing.T) {
		c = newChronicle(t)
		select {
		case <-c.ended:
			t.Error("ended while its test runs")
		default:
		}
	})
	select {
	case <-c.ended:
	default:
		t.Error("runs on after its test")
		c.stop()
	}
}

// The lives of nodes as the transaction log has them are those that ZooKeeper tells, and that we saw happen.
func TestTheTruthIsWhatZooKeeperTells(t *testing.T) {
	dir := t.TempDir()
	clocks := newChronicle(t)
	srv := realzk.Start(t, realzk.Options{Dir: dir})
	a, b := connect(t, srv.Addr()), connect(t, srv.Addr())
	defer a.Close()
	acl := zk.WorldACL(zk.PermAll)
	for _, p := range []string{"/chaos", "/chaos/line", "/else"} {
		_, err := a.Create(p, nil, 0, acl)
		must(t, err)
	}
	began := monotonic()
	deleted, err := a.CreateProtectedEphemeralSequential("/chaos/line/x-", []byte("deleted"), acl)
	must(t, err)
	_, err = a.Multi(&zk.CreateRequest{Path: "/chaos/line/multi", Data: []byte("multi"), Acl: acl,
		Flags: zk.FlagEphemeral},
		&zk.CheckVersionRequest{Path: deleted, Version: -1},
		&zk.SetDataRequest{Path: "/chaos", Data: []byte("x"), Version: -1})
	must(t, err)
	_, err = b.Create("/chaos/line/expired", []byte("expired"), zk.FlagEphemeral, acl)
	must(t, err)
	_, err = b.Create("/else/where", nil, zk.FlagEphemeral, acl)
	must(t, err)
	_, err = a.Multi(&zk.DeleteRequest{Path: deleted, Version: -1},
		&zk.CheckVersionRequest{Path: "/chaos/nobody", Version: -1})
	if err != zk.ErrNoNode { // the log has this delete, and the failure after it
		t.Fatalf("the second part did not fail: %v", err)
	}
	_, kept, err := a.Get("/chaos/line/multi")
	must(t, err)
	_, first, err := a.Get(deleted)
	must(t, err)
	before := monotonic()
	_, err = a.Multi(&zk.DeleteRequest{Path: deleted, Version: -1},
		&zk.CheckVersionRequest{Path: "/chaos", Version: -1})
	must(t, err)
	b.Close()
	srv.Kill(t) // the second file begins with the restart
	srv.Restart(t)
	c := connect(t, srv.Addr())
	defer c.Close()
	_, err = c.Create("/chaos/line/late", []byte("late"), zk.FlagEphemeral, acl)
	must(t, err)
	ended := monotonic()
	clocks.stop()

	files, err := filepath.Glob(filepath.Join(dir, "data", "version-2", "log.*"))
	must(t, err)
	nodes, err := readTruth("/chaos", [][]string{files}, clocks.stamp)
	must(t, err)
	want := map[string]struct {
		czxid int64
		stays bool
	}{"deleted": {first.Czxid, false}, "multi": {kept.Czxid, true}, "expired": {0, false}, "late": {0, true}}
	for _, n := range nodes {
		w, ok := want[n.id]
		delete(want, n.id)
		if !ok || w.czxid != 0 && w.czxid != n.czxid || w.stays != (n.deleted == never) {
			t.Errorf("%+v is not what ZooKeeper told", n)
		}
		if n.id == "deleted" && n.deleted.latest < before {
			t.Errorf("%+v ended before it was deleted", n)
		}
		if n.created.latest < began || n.created.earliest > ended ||
			!w.stays && (n.deleted.latest < n.created.earliest || n.deleted.earliest > ended) {
			t.Errorf("%+v is not of between %d and %d", n, began, ended)
		}
		if wide := n.created.latest - n.created.earliest; wide > int64(100*time.Millisecond) {
			t.Errorf("its time is known to %s only", time.Duration(wide))
		}
	}
	if len(want) > 0 || len(files) < 2 {
		t.Errorf("the truth has not %v, in %d files", want, len(files))
	}
	majority(t, files, len(nodes))
}

// majority: what one server of three has on disk was never committed, or not yet.
func majority(t *testing.T, files []string, all int) {
	t.Helper()
	stamp := func(int64) moment { return moment{} }
	for have, want := range map[int]int{1: 0, 2: all, 3: all} {
		servers := make([][]string, 3)
		for i := range have {
			servers[i] = files
		}
		nodes, err := readTruth("/chaos", servers, stamp)
		must(t, err)
		if len(nodes) != want {
			t.Errorf("%d of three servers have it, and the truth has %d nodes, want %d", have, len(nodes), want)
		}
	}
}

// A server that was killed while it wrote leaves the beginning of a transaction.
func TestATornLogEndsBeforeTheTear(t *testing.T) {
	dir := t.TempDir()
	srv := realzk.Start(t, realzk.Options{Dir: dir})
	conn := connect(t, srv.Addr())
	defer conn.Close()
	for _, p := range []string{"/a", "/b"} {
		_, err := conn.Create(p, nil, 0, zk.WorldACL(zk.PermAll))
		must(t, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "data", "version-2", "log.*"))
	must(t, err)
	whole, err := readTxnLog(files[0])
	must(t, err)
	var paths []string
	for _, zxid := range slices.Sorted(maps.Keys(whole)) {
		for _, change := range whole[zxid] {
			paths = append(paths, change.path)
		}
	}
	if !slices.Equal(paths, []string{"/a", "/b"}) {
		t.Fatal(paths)
	}
	text, err := os.ReadFile(files[0])
	must(t, err)
	torn, most := filepath.Join(dir, "torn"), 0
	for cut := range min(len(text), 4000) {
		must(t, os.WriteFile(torn, text[:cut], 0o600))
		some, err := readTxnLog(torn)
		must(t, err)
		for zxid := range some {
			if _, there := whole[zxid]; !there {
				t.Fatalf("%d bytes hold %#x", cut, zxid)
			}
		}
		most = max(most, len(some))
	}
	if most != len(whole) {
		t.Errorf("%d of %d transactions were read", most, len(whole))
	}
}

func TestATransactionThatWasWrittenTwiceCountsOnce(t *testing.T) {
	made := txn{zxid: 7, session: 1, kind: txnCreate, path: "/chaos/line/x", ephemeral: true}
	all := map[int64][]txn{}
	for range 2 {
		must(t, add(all, 7, []txn{made}))
	}
	if nodes, err := lives("/chaos", all[7], func(int64) moment { return moment{} }); err != nil || len(nodes) != 1 {
		t.Error(nodes, err)
	}
	made.path = "/chaos/line/y"
	if add(all, 7, []txn{made}) == nil {
		t.Error("two transactions have one number, and that is fine?")
	}
	if _, err := lives("/chaos", []txn{made, made}, func(int64) moment { return moment{} }); err == nil {
		t.Error("a node was made twice, and that is fine?")
	}
}
