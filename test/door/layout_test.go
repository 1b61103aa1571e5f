package door_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// layout is what Curator writes when it makes one of everything.
const layout = "../servers/interop/testdata/layout.tsv"

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// A library that writes and reads a wrong layout understands itself. So every node is compared with Curator's: its
// name, whether it is ephemeral, and its data. This library adds two things that Curator does not look at: the marks of
// producers next to a queue, and a semaphore's number of permits.
func TestTheLayout(t *testing.T) {
	text, err := os.ReadFile(layout)
	if err != nil {
		t.Fatal(err)
	}
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		var got []string
		oneOfEverything(t, n, "/layout", func() {
			pass(time.Second)
			w.srv.View(func(v *zkmem.View) { got = nodesBelow(v, "/layout") })
		})
		got = slices.DeleteFunc(got, func(line string) bool { return strings.Contains(line, "-producers") })
		want := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"), func(line string) bool {
			return strings.HasPrefix(line, "#")
		})
		for _, line := range want {
			if !slices.ContainsFunc(got, func(other string) bool { return sameNode(line, other) }) {
				t.Errorf("Curator has %q, this library has not", line)
			}
		}
		for _, line := range got {
			if !slices.ContainsFunc(want, func(other string) bool { return sameNode(other, line) }) {
				t.Errorf("this library has %q, Curator has not", line)
			}
		}
	})
}

// sameNode reports whether two lines are of the same node. Data that Curator fills with its default are any.
func sameNode(curators, ours string) bool {
	if its, ok := strings.CutSuffix(curators, "\t*"); ok {
		return strings.HasPrefix(ours, its+"\t")
	}
	return curators == ours
}

// nodesBelow returns a line for a node and for each below it: the path, the kind of node, and its data.
func nodesBelow(v *zkmem.View, node string) []string {
	data, stat, err := v.Get(node)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", node, err)}
	}
	kind := "persistent"
	if stat.EphemeralOwner != 0 {
		kind = "ephemeral"
	}
	lines := []string{uuid.ReplaceAllString(node, "UUID") + "\t" + kind + "\t" + hex.EncodeToString(data)}
	for _, child := range v.Children(node) {
		lines = append(lines, nodesBelow(v, path.Join(node, child))...)
	}
	return lines
}

// oneOfEverything makes what java/Layout.java makes, and looks while all is held.
func oneOfEverything(t *testing.T, n *node, root string, look func()) {
	ctx := t.Context()
	latch := must(n.Latch(root+"/latch", incumbent.LatchOptions{ID: "one"}))
	succeed(t, latch.Start())
	defer must(latch.Await(ctx)).Release()
	lock := incumbent.MutexOptions{ID: "one"}
	defer must(must(n.Mutex(root+"/mutex", lock)).Lock(ctx)).Release()
	defer must(must(n.ReadWriteLock(root+"/write", lock)).Lock(ctx)).Release()
	defer must(must(n.ReadWriteLock(root+"/read", lock)).RLock(ctx)).Release()
	defer must(must(n.Semaphore(root+"/semaphore", 2, incumbent.SemaphoreOptions{ID: "one"})).Acquire(ctx, 1)).Release()
	succeed(t, must(n.Barrier(root+"/barrier")).Set(ctx))
	succeed(t, must(n.DoubleBarrier(root+"/doublebarrier", 1, incumbent.DoubleBarrierOptions{})).Enter(ctx))
	queued(t, n, root)
	_, err := must(n.AtomicLong(root+"/atomic", incumbent.AtomicLongOptions{})).Add(ctx, -258)
	succeed(t, err)
	_, err = must(n.SharedCount(root+"/count", -259)).Get(ctx)
	succeed(t, err)
	succeed(t, must(n.Membership(root+"/group", "one", []byte("payload"), incumbent.PersistentNodeOptions{})).Start())
	kept := must(n.PersistentNode(root+"/persistent/node", []byte("payload"), incumbent.PersistentNodeOptions{}))
	succeed(t, kept.Start())
	look()
}

// queued puts an item into a queue of each kind.
func queued(t *testing.T, n *node, root string) {
	ctx, options := t.Context(), incumbent.QueueOptions[string]{Codec: incumbent.Text()}
	plain := must(incumbent.NewQueue(n.Client, root+"/queue", options))
	succeed(t, plain.Put(ctx, "one"))
	succeed(t, plain.PutTogether(ctx, "two", ""))
	priority := must(incumbent.NewPriorityQueue(n.Client, root+"/priority", options))
	succeed(t, priority.Priority(258).Put(ctx, "one"))
	succeed(t, priority.Priority(-258).Put(ctx, "two"))
	delay := must(incumbent.NewDelayQueue(n.Client, root+"/delay", options))
	succeed(t, delay.At(time.UnixMilli(4102444800123)).Put(ctx, "one"))
	ids := must(incumbent.NewIDQueue(n.Client, root+"/ids", options))
	succeed(t, ids.ID("number 1").Put(ctx, "one"))
}

func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
