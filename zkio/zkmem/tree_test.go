package zkmem

import (
	"math"
	"slices"
	"testing"
)

// world applies operations to a tree and keeps the transactions for a follower.
type world struct {
	t    *testing.T
	tree *Tree
	log  []Txn
}

func newWorld(t *testing.T) *world { return &world{t: t, tree: NewTree()} }

func (w *world) do(who Caller, op Op) (Result, []Event) {
	txn := w.tree.Prepare(who, op, w.tree.Zxid()+1, 1000+w.tree.Zxid())
	w.log = append(w.log, txn)
	return w.tree.Apply(txn)
}

func (w *world) must(who Caller, op Op) Result {
	w.t.Helper()
	r, _ := w.do(who, op)
	if r.Err != OK {
		w.t.Fatalf("%v %s: %v", op.Code, op.Path, r.Err)
	}
	return r
}

func (w *world) session(id int64) Caller {
	w.must(Caller{Session: id}, Op{Code: OpCreateSession, Number: 4000})
	return Caller{Session: id}
}

func making(path string, mode Mode) Op {
	return Op{Code: OpCreate, Path: path, Mode: mode, ACL: OpenACL()}
}

func TestSequenceSticksAtItsLastNumber(t *testing.T) {
	w := newWorld(t)
	me := w.session(1)
	w.must(me, making("/q", Persistent))
	w.must(Operator(), Op{Code: OpSetSequence, Path: "/q", Number: math.MaxInt32 - 1})
	for _, want := range []string{"/q/a-2147483646", "/q/a-2147483647"} {
		if r := w.must(me, making("/q/a-", EphemeralSequential)); r.Path != want {
			t.Fatal(r.Path)
		}
	}
	if r, _ := w.do(me, making("/q/a-", EphemeralSequential)); r.Err != NodeExists {
		t.Fatal("the stuck number is taken", r)
	}
	if r := w.must(me, making("/q/b-", EphemeralSequential)); r.Path != "/q/b-2147483647" {
		t.Fatal("handed out twice under another prefix", r.Path)
	}
	w.must(Operator(), Op{Code: OpSetSequence, Path: "/q", Number: -5})
	if r := w.must(me, making("/q/a-", EphemeralSequential)); r.Path != "/q/a--000000005" {
		t.Fatal(r.Path)
	}
}

func TestMultiIsAllOrNothingAndSeesItself(t *testing.T) {
	w := newWorld(t)
	me := w.session(1)
	r, events := w.do(me, Op{Code: OpMulti, Ops: []Op{
		making("/a", Persistent), making("/a/b", Persistent), {Code: OpDelete, Path: "/a/b", Version: 0},
		{Code: OpCheck, Path: "/a", Version: 1},
		making("/never", Persistent),
	}})
	codes := []Code{}
	for _, one := range r.Results {
		codes = append(codes, one.Err)
	}
	if want := []Code{OK, OK, OK, BadVersion, RuntimeInconsistency}; !slices.Equal(codes, want) ||
		r.Err != BadVersion || len(events) != 0 {
		t.Fatal(codes, r.Err, events)
	}
	if w.tree.Exists("/a") || w.tree.Zxid() != 2 {
		t.Fatal("nothing happens, and a zxid is gone")
	}
	_, events = w.do(me, Op{Code: OpMulti, Ops: []Op{making("/a", Persistent), making("/a/b", Ephemeral)}})
	if len(events) != 4 || events[2].Path != "/a/b" || !slices.Equal(w.tree.Ephemerals(1), []string{"/a/b"}) {
		t.Fatal(events)
	}
}

func TestALaggingFollowerBecomesTheSameTree(t *testing.T) {
	w := newWorld(t)
	me := w.session(7)
	w.must(me, making("/c", Persistent))
	for range 5 {
		w.must(me, making("/c/n-", EphemeralSequential))
	}
	w.do(me, making("/c", Persistent))
	w.must(me, Op{Code: OpSetData, Path: "/c", Data: []byte("x"), Version: AnyVersion})
	middle := w.tree.Clone()
	w.must(me, Op{Code: OpCloseSession})
	follower := NewTree()
	for _, txn := range w.log {
		follower.Apply(txn)
		if follower.Zxid() == middle.Zxid() && !slices.Equal(follower.Ephemerals(7), middle.Ephemerals(7)) {
			t.Fatal("differs in the middle")
		}
	}
	for _, path := range []string{"/", "/c"} {
		names, stat, _ := w.tree.Children(path)
		theirs, other, err := follower.Children(path)
		if err != nil || !slices.Equal(names, theirs) || stat != other {
			t.Fatal(path, stat, other)
		}
	}
	if len(middle.Ephemerals(7)) != 5 || middle.EphemeralCount() != 5 || w.tree.EphemeralCount() != 0 {
		t.Fatal("a clone is independent")
	}
}

func TestContainersGoOnceTheyHaveBeenUsed(t *testing.T) {
	w := newWorld(t)
	me := w.session(1)
	w.must(me, Op{Code: OpCreateContainer, Path: "/c", ACL: OpenACL()})
	if len(w.tree.EmptyContainers()) != 0 {
		t.Fatal("never used")
	}
	w.must(me, making("/c/x", Persistent))
	if r, _ := w.do(Operator(), Op{Code: OpDeleteContainer, Path: "/c"}); r.Err != NotEmpty {
		t.Fatal(r.Err)
	}
	w.must(me, Op{Code: OpDelete, Path: "/c/x", Version: AnyVersion})
	if !slices.Equal(w.tree.EmptyContainers(), []string{"/c"}) {
		t.Fatal(w.tree.EmptyContainers())
	}
	w.must(Operator(), Op{Code: OpDeleteContainer, Path: "/c"})
	if w.tree.Exists("/c") || len(w.tree.EmptyContainers()) != 0 {
		t.Fatal("still there")
	}
}

func TestPermissions(t *testing.T) {
	w := newWorld(t)
	owner, other := w.session(1), w.session(2)
	owner.Auth = []Auth{DigestAuth("me:secret")}
	other.Auth = []Auth{{"ip", "10.1.2.3"}}
	w.must(owner, Op{Code: OpCreate, Path: "/mine", ACL: []ACL{{PermAll, "auth", ""}, {PermRead, "ip", "10.0.0.0/8"}}})
	w.must(owner, making("/mine/child", Persistent))
	for _, test := range []struct {
		op   Op
		want Code
	}{
		{making("/mine/x", Persistent), NoAuth},
		{Op{Code: OpDelete, Path: "/mine/child", Version: AnyVersion}, NoAuth},
		{Op{Code: OpSetData, Path: "/mine", Version: AnyVersion}, NoAuth},
		{Op{Code: OpSetACL, Path: "/mine", ACL: OpenACL(), Version: AnyVersion}, NoAuth},
		{Op{Code: OpCheck, Path: "/mine", Version: AnyVersion}, OK},
		{Op{Code: OpCreate, Path: "/y", ACL: []ACL{{PermAll, "auth", ""}}}, InvalidACL},
		{Op{Code: OpCreate, Path: "/y"}, InvalidACL},
	} {
		if r, _ := w.do(other, test.op); r.Err != test.want {
			t.Errorf("%v %s: %v", test.op.Code, test.op.Path, r.Err)
		}
	}
	w.must(Operator(), Op{Code: OpDelete, Path: "/mine/child", Version: AnyVersion})
	if r, _ := w.do(Caller{Session: 99}, making("/z", Persistent)); r.Err != SessionExpired {
		t.Error(r.Err)
	}
}

func TestPathsThatNoNodeMayHave(t *testing.T) {
	for _, path := range []string{"/", "/a", "/a/b-0000000000", "/é", "/...", "/a..", "/日本", "/a b",
		"/~", "/\u00a0",
		"/\uf900", "/\uffef"} {
		if !validPath(path) {
			t.Errorf("%q is fine", path)
		}
	}
	for _, path := range []string{"", "a", "/a/", "//", "/a//b", "/.", "/a/../b", "/\x00", "/\x1f", "/\x7f", "/\u009f",
		"/\ue000", "/\uf8ff", "/\ufff0", "/😀", "/\xff"} {
		if validPath(path) {
			t.Errorf("%q is not", path)
		}
	}
}

func TestEventsComeInTheServersOrder(t *testing.T) {
	w := newWorld(t)
	me := w.session(1)
	eventsOf := func(op Op) (list []string) {
		t.Helper()
		r, events := w.do(me, op)
		if r.Err != OK {
			t.Fatal(r.Err)
		}
		for _, e := range events {
			list = append(list, e.Type.String()+" "+e.Path)
		}
		return list
	}
	for _, test := range []struct {
		op   Op
		want []string
	}{
		{making("/a", Persistent), []string{"created /a", "childrenChanged /"}},
		{Op{Code: OpSetData, Path: "/a"}, []string{"dataChanged /a"}},
		{Op{Code: OpSetACL, Path: "/a", ACL: OpenACL()}, nil},
		{making("/a/2", Ephemeral), []string{"created /a/2", "childrenChanged /a"}},
		{making("/a/1", Ephemeral), []string{"created /a/1", "childrenChanged /a"}},
		{making("/a/3", Persistent), []string{"created /a/3", "childrenChanged /a"}},
		{Op{Code: OpDelete, Path: "/a/3"}, []string{"deleted /a/3", "childrenChanged /a"}},
		{Op{Code: OpCloseSession},
			[]string{"deleted /a/1", "childrenChanged /a", "deleted /a/2", "childrenChanged /a"}},
	} {
		if got := eventsOf(test.op); !slices.Equal(got, test.want) {
			t.Errorf("%v %s: %q", test.op.Code, test.op.Path, got)
		}
	}
}

func TestNodesGoWhenTheirTTLIsOver(t *testing.T) {
	w := newWorld(t)
	me := w.session(1)
	brief := Op{Code: OpCreateTTL, Path: "/t", Mode: TTL, TTL: 100, ACL: OpenACL()}
	if r, _ := w.do(me, brief); r.Err != Unimplemented {
		t.Fatal("taken by a tree that knows no TTL", r.Err)
	}
	w.tree.AllowTTL()
	made := w.must(me, brief).Stat
	if made.EphemeralOwner != 0 {
		t.Fatal("a Stat shows an owner", made)
	}
	w.must(me, making("/t/child", Persistent))
	if late := made.Mtime + 101; len(w.tree.Expired(late)) != 0 {
		t.Fatal("with a child")
	}
	w.must(me, Op{Code: OpDelete, Path: "/t/child", Version: AnyVersion})
	written := w.must(me, Op{Code: OpSetData, Path: "/t", Version: AnyVersion}).Stat.Mtime
	if len(w.tree.Expired(written+100)) != 0 || !slices.Equal(w.tree.Clone().Expired(written+101), []string{"/t"}) {
		t.Fatal("it counts from the last write, and is longer than the TTL")
	}
	w.must(Operator(), Op{Code: OpDeleteContainer, Path: "/t"})
	if w.tree.Exists("/t") || len(w.tree.Expired(written+101)) != 0 || len(w.tree.EmptyContainers()) != 0 {
		t.Fatal("still there")
	}
}
