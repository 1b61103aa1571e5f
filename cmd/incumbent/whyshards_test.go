//go:build unix

package main_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// recordedMember runs a member that is recorded, and tells began when work on a shard begins. What it returns ends the
// member, and returns the log.
func recordedMember(t *testing.T, srv *zkmem.Server, id string, began chan<- int) (end func() (file string)) {
	t.Helper()
	return recordedRun(t, srv, id, func(ctx context.Context, c *incumbent.Client) error {
		member, err := c.Shards(shardsPath, 4, incumbent.ShardsOptions{ID: id,
			Settle: time.Millisecond})
		if err != nil {
			return err
		}
		return member.Run(ctx, func(s *incumbent.Shard) error {
			began <- s.ID
			<-s.Context().Done()
			return nil
		})
	})
}

// The logs of members say who owned which shard when, and why it moved; and a record names its shard.
func TestWhyOfShardsNamesTheirOwners(t *testing.T) {
	srv, began := zkmem.Start(t), make(chan int, 100)
	begin := func(n int) {
		for range n {
			select {
			case <-began:
			case <-within(t).Done():
				t.Fatal("the work on a shard did not begin")
			}
		}
	}
	ann := recordedMember(t, srv, "ann", began)
	begin(4)
	bob := recordedMember(t, srv, "bob", began)
	begin(1)
	files := []string{bob()}
	begin(1)
	files = append(files, ann())

	out := start(t, nil, append([]string{"why", "--path", shardsPath}, files...)...).Exits(0).Out.String()
	programtest.Contains(t, out, "Never two owners of a shard at once", shardsPath+": Nobody owns shards 0-3 since ",
		"ann 4 (closed), bob 1 (closed), ann 1 (moved)", "gave it up: it assigned it to bob, which owned none")
	alone := start(t, nil, append([]string{"why", "--shard", "3"}, files...)...).Exits(0).Out.String()
	if strings.Contains(alone, "shard 0") || !strings.Contains(alone, shardsPath+" shard 3: ") {
		t.Errorf("the moves of shard 3 are\n%s", alone)
	}
	groups := 0
	for _, o := range start(t, nil, append([]string{"why", "--json"}, files...)...).Exits(0).Objects() {
		if o["type"] == "group" {
			groups++
			if g := o["group"].(map[string]any); g["shards"] != 4.0 || g["nobody"] != "0-3" {
				t.Errorf("the group is %v", g)
			}
		}
	}
	if groups != 1 {
		t.Errorf("%d groups", groups)
	}
	refusal := start(t, nil, "why", "--shard", "-1", files[0]).Exits(64).Err.String()
	programtest.Contains(t, refusal, "--shard -1 is no shard")

	out = start(t, nil, "replay", "--print", files[0]).Exits(0).Out.String()
	programtest.Contains(t, out, "shard 0 is owned, token=", ", by "+shardsPath+"/members/member-",
		"shard 0 is not owned any more: closed", " (shard 0)")
	if strings.Contains(out, "notify delivered") || strings.Contains(out, "notify withdrawn") {
		t.Errorf("a record names a piece of work by its number:\n%s", out)
	}
}
