package chaos

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// script is a made-up history: the transaction with the zxid n is proposed in the n-th second.
type script struct {
	history []txn
	clients []client
}

func created(zxid, session int64, path, data string) txn {
	return txn{zxid: zxid, session: session, kind: txnCreate, path: path, data: []byte(data), ephemeral: true}
}

// put is a create of a node that no session owns.
func put(zxid, session int64, path, data string) txn {
	t := created(zxid, session, path, data)
	t.ephemeral = false
	return t
}

func setData(zxid, session int64, path, data string) txn {
	return txn{zxid: zxid, session: session, kind: txnSetData, path: path, data: []byte(data)}
}

func deleted(zxid int64, path string) txn { return txn{zxid: zxid, kind: txnDelete, path: path} }

func closed(zxid, session int64) txn {
	return txn{zxid: zxid, session: session, kind: txnCloseSession}
}

// believed is a belief from tenths of a second to tenths of a second.
func believed(token, from, to int64) belief {
	return belief{span: span{from * second / 10, to * second / 10}, token: token}
}

// without removes the transactions with a zxid.
func (s *script) without(zxid int64) {
	s.history = slices.DeleteFunc(s.history, func(t txn) bool { return t.zxid == zxid })
}

// also adds transactions in their place.
func (s *script) also(all ...txn) {
	s.history = append(s.history, all...)
	slices.SortStableFunc(s.history, func(a, b txn) int { return int(a.zxid - b.zxid) })
}

// verdict judges the story as that of a line.
func (s *script) verdict(t *testing.T, k kind) verdict {
	t.Helper()
	for i := range s.history {
		s.history[i].at = s.history[i].zxid * 1000
	}
	stamp := func(ms int64) moment {
		return moment{ms * int64(time.Millisecond), (ms + 1) * int64(time.Millisecond)}
	}
	nodes, err := lives(root, s.history, stamp)
	if err != nil {
		t.Fatal(err)
	}
	if k == byShards {
		return judgeShards(s.clients, nodes, s.history, stamp, 4*time.Second)
	}
	return judge(k, s.clients, nodes, s.history, 4*time.Second)
}

// madeUp is a way in which a story goes, and the rules that it breaks.
type madeUp struct {
	wrong func(*script)
	want  []string
}

func checkStories(t *testing.T, k kind, tell func() *script, cases map[string]madeUp) {
	t.Helper()
	for name, c := range cases {
		s := tell()
		c.wrong(s)
		v := s.verdict(t, k)
		got := wrongs(v)
		for _, w := range v.wrong {
			rule, _, _ := strings.Cut(w, ": ")
			got = append(got, rule)
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: found %q, want %q: %q", k, name, got, c.want, v.wrong)
		}
	}
}

// readAndWrite tells of A, which writes, and of B and C, which read after it.
func readAndWrite() *script {
	dir, to := byReadWrite.path(), byReadWrite.written()
	return &script{
		history: []txn{
			created(1, 1, dir+"/a__WRIT__1", "a"), created(2, 2, dir+"/b__READ__2", "b"),
			created(3, 3, dir+"/c__READ__3", "c"),
			setData(4, 1, to, "a 1 1"), deleted(5, dir+"/a__WRIT__1"), setData(6, 2, to, "b 1 2"),
			setData(7, 3, to, "c 1 3"),
			closed(8, 2), deleted(9, dir+"/c__READ__3"),
		},
		clients: []client{
			{id: "a", beliefs: []belief{believed(1, 15, 48)}, writes: []write{{n: 1, fate: written}}},
			{id: "b", beliefs: []belief{believed(2, 55, 75)},
				writes: []write{{n: 1, fate: unknown}, {n: 2, fate: unknown}}},
			{id: "c", beliefs: []belief{believed(3, 56, 88)},
				writes: []write{{n: 1, fate: written}, {n: 2, fate: refused}}},
		},
	}
}

func TestMadeUpReadersAndWriters(t *testing.T) {
	to := byReadWrite.written()
	checkStories(t, byReadWrite, readAndWrite, map[string]madeUp{
		"all is well": {func(*script) {}, nil},
		"B reads before A has ended": {func(s *script) {
			s.clients[1].beliefs[0].from = 47 * second / 10
		}, []string{"beyond", "together"}},
		"B reads behind A, which does not believe": {func(s *script) {
			s.clients[0].beliefs, s.clients[1].beliefs[0].from = nil, 47*second/10
		}, []string{"beyond"}},
		"A is stopped and believes, and B reads": {func(s *script) {
			s.clients[0].stopped = []span{{48 * second / 10, 6 * second}}
		}, []string{"asleep"}},
		"C believes after its node is gone": {func(s *script) {
			s.clients[2].beliefs[0].to = 10 * second
		}, []string{"beyond"}},
		"C names another's token": {func(s *script) {
			s.clients[2].beliefs[0].token = 2
		}, []string{"beyond"}},
		"A has another node meanwhile": {func(s *script) {
			s.without(5)
			s.also(created(5, 1, byReadWrite.path()+"/a__READ__4", "a"))
			s.clients = s.clients[:1]
			s.history = slices.DeleteFunc(s.history, func(t txn) bool { return t.zxid == 6 || t.zxid == 7 })
		}, []string{"orphans"}},
		"A holds again under an older node": {func(s *script) {
			s.clients[0].beliefs = []belief{believed(2, 21, 30), believed(1, 31, 48)}
			s.clients[0].id, s.clients[1].id = "b", "d"
			s.history[0].data, s.clients = []byte("b"), s.clients[:1]
			s.history = s.history[:3]
			s.history[1].path = byReadWrite.path() + "/b__WRIT__2"
			s.clients[0].writes = nil
		}, []string{"beyond", "orphans", "shrunk"}},
		"a write before the node": {func(s *script) {
			s.without(4)
			s.also(setData(0, 1, to, "a 1 1"))
		}, []string{"written without the node"}},
		"a write after the node": {func(s *script) {
			s.without(4)
			s.also(setData(6, 1, to, "a 1 1"))
		}, []string{"written without the node"}},
		"a write under another's node": {func(s *script) {
			s.without(4)
			s.also(setData(4, 1, to, "a 1 2"))
		}, []string{"written without the node"}},
		"a write twice": {func(s *script) {
			s.also(setData(4, 1, to, "a 1 1"))
		}, []string{"committed twice"}},
		"a write that is lost": {func(s *script) {
			s.without(4)
		}, []string{"answered and not committed"}},
		"an unknown write that was not done": {func(s *script) {
			s.without(6)
		}, nil},
		"a refused write that was done": {func(s *script) {
			s.also(setData(7, 3, to, "c 2 3"))
		}, []string{"refused and committed"}},
		"a write that nobody sent": {func(s *script) {
			s.also(setData(7, 3, to, "c 3 3"))
		}, []string{"committed and never sent"}},
		"a write of something else": {func(s *script) {
			s.also(setData(7, 3, to, "hello"))
		}, []string{"a foreign write"}},
	})
}

// permitsOfTwo tells of a limit of two, lowered to one while A and B have one each; C gets one when both have ended.
func permitsOfTwo() *script {
	dir := bySemaphore.places()
	return &script{
		history: []txn{
			put(1, 1, dir, "2"), created(2, 1, dir+"/a1", "a"), created(3, 2, dir+"/b1", "b"), setData(4, 1, dir, "1"),
			deleted(5, dir+"/a1"), deleted(6, dir+"/b1"), created(7, 3, dir+"/c1", "c"),
		},
		clients: []client{
			{id: "a", beliefs: []belief{believed(2, 21, 48)}}, {id: "b", beliefs: []belief{believed(3, 31, 58)}},
			{id: "c", beliefs: []belief{believed(7, 71, 90)}},
		},
	}
}

func TestMadeUpPermits(t *testing.T) {
	dir := bySemaphore.places()
	checkStories(t, bySemaphore, permitsOfTwo, map[string]madeUp{
		"all is well": {func(*script) {}, nil},
		"C gets one above the lowered limit": {func(s *script) {
			s.without(6)
		}, []string{"more permits than the limit"}},
		"C gets two at once, of one": {func(s *script) {
			s.also(created(7, 3, dir+"/c2", "c"))
		}, []string{"more permits than the limit"}},
		"C gets two at once, of a raised limit": {func(s *script) {
			s.also(created(7, 3, dir+"/c2", "c"), setData(6, 3, dir, "3"))
		}, nil},
		"one of two permits of C is deleted": {func(s *script) {
			s.also(created(7, 3, dir+"/c2", "c"), setData(6, 3, dir, "3"), deleted(8, dir+"/c2"))
		}, []string{"beyond"}},
		"A, B and C believe at once": {func(s *script) {
			s.clients[0].beliefs[0].to, s.clients[1].beliefs[0].to = 80*second/10, 80*second/10
		}, []string{"beyond", "more permits believed than the limit"}},
	})
}

// twoJobs tells of A, which leads and gives up, and of B, which leads until its session ends.
func twoJobs() *script {
	marker, seal := byJob.places()+"/instance", byJob.places()+"/seal-"
	return &script{
		history: []txn{
			created(1, 1, marker, "a"), created(1, 1, seal+"1", "a"), deleted(4, marker), deleted(4, seal+"1"),
			created(5, 2, marker, "b"), created(5, 2, seal+"2", "b"), closed(9, 2),
		},
		clients: []client{{id: "a", beliefs: []belief{believed(0, 12, 38)}},
			{id: "b", beliefs: []belief{believed(0, 52, 88)}}},
	}
}

func TestMadeUpJobs(t *testing.T) {
	seal := byJob.places() + "/seal-"
	checkStories(t, byJob, twoJobs, map[string]madeUp{
		"all is well": {func(*script) {}, nil},
		"A's seal stays": {func(s *script) {
			s.history = slices.DeleteFunc(s.history, func(t txn) bool {
				return t.kind == txnDelete && path.Base(t.path) == "seal-1"
			})
		}, []string{"two seals"}},
		"B's seal is another session's": {func(s *script) {
			s.history[5].session = 3
		}, []string{"a seal without the marker"}},
		"B believes before its marker": {func(s *script) {
			s.clients[1].beliefs[0].from = 49 * second / 10
		}, []string{"beyond"}},
		"A believes under B's marker": {func(s *script) {
			s.clients[0].beliefs[0].to = 6 * second
		}, []string{"beyond", "together"}},
		"the seal is renewed": {func(s *script) {
			s.also(deleted(6, seal+"2"), created(7, 2, seal+"3", "b"))
		}, nil},
	})
}
