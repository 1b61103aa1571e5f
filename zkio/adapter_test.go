package zkio_test

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestEveryEffectIsAnswered(t *testing.T) {
	srv := zkmem.Start(t)
	r, attached := attachedRig(t, srv)
	if attached.SessionID == 0 || attached.Timeout != int64(15e9) || attached.Reattached ||
		attached.Server != srv.Addr() {
		t.Errorf("attached: %+v", attached)
	}

	made := r.ask(events.Create{Call: r.call(), Path: "/l", Mode: events.Container})
	if made.Code != "" || made.Path != "/l" || made.Zxid == 0 || made.SentAt == 0 {
		t.Errorf("container: %+v", made)
	}
	own := r.ask(events.Create{Call: r.call(), Path: "/l/lock-", Mode: events.EphemeralSequential, Data: []byte("me")})
	if own.Path != "/l/lock-0000000000" {
		t.Errorf("create: %+v", own)
	}
	got := r.ask(events.Get{Call: r.call(), Path: own.Path, Data: true, Watch: true})
	if string(got.Data) != "me" || got.Stat.Czxid != own.Zxid || got.Stat.EphemeralOwner != attached.SessionID {
		t.Errorf("get: %+v %+v", got, got.Stat)
	}
	if got := r.ask(events.Get{Call: r.call(), Path: own.Path}); got.Data != nil || got.Stat == nil {
		t.Errorf("get without data: %+v", got)
	}
	if got := r.ask(events.Exists{Call: r.call(), Path: "/l/none"}); got.Code != events.NoNode {
		t.Errorf("exists: %+v", got)
	}
	list := r.ask(events.Children{Call: r.call(), Path: "/l"})
	if len(list.Children) != 1 || list.Children[0] != "lock-0000000000" || list.Stat.NumChildren != 1 {
		t.Errorf("children: %+v", list)
	}
	if got := r.ask(events.Sync{Call: r.call(), Path: "/l"}); got.Code != "" || got.Path != "/l" {
		t.Errorf("sync: %+v", got)
	}
	multi := r.ask(events.Multi{Call: r.call(), Ops: []events.Op{
		{Verb: "check", Path: own.Path, Version: -1},
		{Verb: "create", Path: "/l/extra", Mode: events.Persistent},
		{Verb: "delete", Path: "/l/absent", Version: -1},
		{Verb: "check", Path: own.Path, Version: -1},
	}})
	if multi.Code != events.NoNode || multi.Path != "/l/absent" {
		t.Errorf("multi: %+v", multi)
	}
	if got := r.ask(events.Delete{Call: r.call(), Path: own.Path}); got.Code != "" {
		t.Errorf("delete: %+v", got)
	}
	r.Execute(events.SessionMachine, events.CloseSession{Session: 1})
	if closed := r.await(events.ConnectionClosed); closed.Code != "" {
		t.Errorf("closed: %+v", closed)
	}
	if len(srv.Sessions()) != 0 {
		t.Error("the session lives on")
	}
	if late := r.ask(events.Sync{Call: r.call(), Path: "/l"}); late.Code != events.SessionExpired {
		t.Errorf("after the end: %+v", late)
	}
}

func TestDirectCalls(t *testing.T) {
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	ctx := t.Context()
	results, zxid, err := r.Commit(ctx, 1, []events.Op{
		{Verb: "create", Path: "/a", Mode: events.Persistent, Data: []byte("1")},
		{Verb: "set", Path: "/a", Data: []byte("2"), Version: 0},
	})
	if err != nil || zxid == 0 || results[0].Path != "/a" || results[1].Stat.Version != 1 {
		t.Errorf("Commit: %+v %d %v", results, zxid, err)
	}
	data, stat, err := r.Read(ctx, "/a")
	if string(data) != "2" || stat.Mzxid != zxid || err != nil {
		t.Errorf("Read: %q %+v %v", data, stat, err)
	}
	names, err := r.List(ctx, "/")
	if err != nil || len(names) != 2 { // with /zookeeper
		t.Errorf("List: %q %v", names, err)
	}
	var refused *zkio.Error
	if _, _, err := r.Read(ctx, "/b"); !asError(err, &refused) || refused.Code != events.NoNode {
		t.Errorf("Read of nothing: %v", err)
	}
	results, _, err = r.Commit(ctx, 1, []events.Op{
		{Verb: "check", Path: "/a", Version: -1}, {Verb: "delete", Path: "/b", Version: -1},
		{Verb: "delete", Path: "/a", Version: -1},
	})
	if !asError(err, &refused) || refused.Code != events.NoNode || len(results) != 3 ||
		results[1].Code != events.NoNode {
		t.Errorf("Commit that fails: %+v %v", results, err)
	}
}

// TestACommittedWriteIsPostedAsAConfirmation: a write that no machine has sent confirms the session if it was
// committed, once in a sixteenth of the timeout, and before its caller has the outcome.
func TestACommittedWriteIsPostedAsAConfirmation(t *testing.T) {
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	commit := func(ops ...events.Op) { _, _, _ = r.Commit(t.Context(), 1, ops) }
	check := events.Op{Verb: "check", Path: "/", Version: -1}
	create := func(path string) events.Op { return events.Op{Verb: "create", Path: path, Mode: events.Persistent} }
	commit(check, create("/none/a")) // refused
	if _, err := r.List(t.Context(), "/"); err != nil {
		t.Fatal(err)
	}
	commit(check, create("/b"))
	commit(check, create("/c"))
	var confirmed []events.Event
	for _, env := range r.rest() {
		if env.Event.Kind == events.ConnectionConfirmed {
			confirmed = append(confirmed, env.Event)
		}
	}
	_, b, err := r.Read(t.Context(), "/b")
	if err != nil || len(confirmed) != 1 {
		t.Fatalf("%+v, %v: want one confirmation, of the first write that was committed", confirmed, err)
	}
	if got := confirmed[0]; got.Session != 1 || got.SentAt == 0 || got.Contact == 0 || got.Zxid != b.Czxid ||
		got.Path != "/" {
		t.Errorf("%+v, the node is of transaction %d", got, b.Czxid)
	}
}
