package page

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/group"
)

// The size that is promised of a page of 1,000 shards of ten members, of which one is killed, one begins, and one is
// paused.
func TestTheSizeOfAThousandShards(t *testing.T) {
	logs, err := group.Play(10, 1000, 2*time.Minute, false,
		world.Action{At: int64(20 * time.Second), Do: world.Kill, Who: 3},
		world.Action{At: int64(50 * time.Second), Do: world.Start, Who: 9},
		world.Action{At: int64(80 * time.Second), Do: world.Freeze, Who: 1, For: 9 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var read []*why.Log
	var rows []*Rows
	for _, l := range logs {
		rows = append(rows, Keep(l.Header, l, Whole))
		one, err := why.Read(l.Name, l.Header, rows[len(rows)-1])
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, one)
	}
	d, err := New(why.Explain(read, nil, why.Options{OwnClocks: true}), rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := d.Picture.Groups[0]
	if changes := len(g.Terms) / 11; g.Shards != 1000 || len(g.Members) != 10 || changes < 2000 || g.Two {
		t.Fatalf("%d shards, %d members, owned %d times, two: %t", g.Shards, len(g.Members), changes, g.Two)
	}
	if n := len(html(t, d, File)); n > 352<<10 {
		t.Errorf("the page of 1,000 shards has %d bytes, want 352 KiB at most", n)
	} else {
		t.Logf("owned %d times: %d bytes", len(g.Terms)/11, n)
	}
}
