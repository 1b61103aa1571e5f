package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// lineWorld is a standalone server with the line /jobs/nightly, which only ann may use.
type lineWorld struct {
	t *testing.T
	s *zkmem.Server
	Settings
	session int64
}

var anns = []zkmem.ACL{{Perms: zkmem.PermAll, Scheme: "digest", ID: zkmem.DigestAuth("ann:pw").ID}}

func newLineWorld(t *testing.T) *lineWorld {
	t.Helper()
	w, s := alone(t, zkmem.Options{})
	l := &lineWorld{t: t, s: s, Settings: w.settings().withDefaults()}
	l.create("/jobs", "", anns, zkmem.Persistent)
	l.create("/jobs/nightly", "", anns, zkmem.Persistent)
	l.Lines = []string{"/jobs/nightly"}
	auth, err := zkio.ParseAuth("digest:ann:pw")
	if err != nil {
		t.Fatal(err)
	}
	l.Auth = []zkio.Auth{auth}
	l.join()
	return l
}

// join opens the session that owns the next nodes.
func (l *lineWorld) join() {
	l.t.Helper()
	c, err := l.open(l.t.Context(), "zk:2181", longest, identity{}, false)
	if err != nil {
		l.t.Fatal(err)
	}
	l.session = c.id
	l.t.Cleanup(c.cut)
}

// create creates a node, which belongs to the present session if it is ephemeral.
func (l *lineWorld) create(path, data string, acl []zkmem.ACL, mode zkmem.Mode) string {
	l.t.Helper()
	r, err := l.s.DoFor(l.session, zkmem.Op{Code: zkmem.OpCreate2, Path: path, Data: []byte(data), ACL: acl,
		Mode: mode})
	if err != nil {
		l.t.Fatal(err)
	}
	return r.Path
}

// place is a place in line, with this number.
func (l *lineWorld) place(id string, number int) string {
	return l.create(fmt.Sprintf("/jobs/nightly/latch-%010d", number), id, anns, zkmem.Ephemeral)
}

// Each condition of a line is planted alone, and found alone.
func TestConditionsOfALine(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant func(*lineWorld)
		want  []string
	}{
		{"nothing", func(l *lineWorld) { l.place("a", 0); l.place("b", 1) }, nil},
		{"a persistent node at the head", func(l *lineWorld) {
			l.create("/jobs/nightly/latch-0000000000", "a", anns, zkmem.Persistent)
			l.place("b", 1)
		}, []string{"unfit blocked /jobs/nightly/latch-0000000000"}},
		{"an election on one node", func(l *lineWorld) {
			l.create("/jobs/active", "nn1", anns, zkmem.Ephemeral)
			l.Lines = []string{"/jobs/active"}
		}, []string{"warning one-node /jobs/active"}},
		{"a persistent node behind", func(l *lineWorld) {
			l.place("b", 1)
			l.create("/jobs/nightly/latch-0000000002", "a", anns, zkmem.Persistent)
		}, []string{"warning persistent-node /jobs/nightly/latch-0000000002"}},
		{"foreign children", func(l *lineWorld) { l.create("/jobs/nightly/notes", "", anns, zkmem.Persistent) },
			[]string{"note foreign-children /jobs/nightly"}},
		{"a forged number", func(l *lineWorld) { l.place("a", 5); l.place("b", 1) },
			[]string{"unfit forged-number /jobs/nightly"}},
		{"equal numbers", func(l *lineWorld) {
			l.place("a", 5)
			l.create("/jobs/nightly/x-latch-0000000005", "b", anns, zkmem.Ephemeral)
		}, []string{"unfit equal-numbers /jobs/nightly"}},
		{"the counter ends", func(l *lineWorld) { l.place("a", 2_147_000_000) },
			[]string{"warning counter-ends /jobs/nightly"}},
		{"the counter has ended", func(l *lineWorld) { l.place("a", -2147483640) },
			[]string{"warning counter-ends /jobs/nightly"}},
		{"a node that cannot be read", func(l *lineWorld) {
			bobs := []zkmem.ACL{{Perms: zkmem.PermAll, Scheme: "digest", ID: zkmem.DigestAuth("bob:pw").ID}}
			l.create("/jobs/nightly/latch-0000000000", "a", bobs, zkmem.Ephemeral)
		}, []string{"warning node-unreadable /jobs/nightly/latch-0000000000"}},
		{"two sessions of one id", func(l *lineWorld) { l.place("a", 0); l.join(); l.place("a", 1) },
			[]string{"warning shared-id /jobs/nightly"}},
		{"a leader that is older than every log",
			func(l *lineWorld) { l.place("a", 0); l.LogsBegin = time.Now().Add(time.Second) },
			[]string{"warning older-than-logs /jobs/nightly/latch-0000000000"}},
		{"a leader that is younger than a log",
			func(l *lineWorld) { l.LogsBegin = time.Now().Add(-time.Second); l.place("a", 0) }, nil},
		{"a large directory", func(l *lineWorld) { l.place("a", 0); l.MaxAnswer = 150 },
			[]string{"warning large-line /jobs/nightly"}},
		{"too large a directory", func(l *lineWorld) { l.place("a", 0); l.MaxAnswer = 50 },
			[]string{"unfit large-line /jobs/nightly"}},
		{"a directory that may not be read", func(l *lineWorld) { l.Auth = nil },
			[]string{"unfit line-unreadable /jobs/nightly"}},
		{"a line in which this client may not create", func(l *lineWorld) {
			l.create("/jobs/shown", "", []zkmem.ACL{{Perms: zkmem.PermRead, Scheme: "world", ID: "anyone"},
				{Perms: zkmem.PermAll, Scheme: "digest", ID: zkmem.DigestAuth("bob:pw").ID}}, zkmem.Persistent)
			l.Lines = []string{"/jobs/shown"}
		}, []string{"unfit may-not-create /jobs/shown"}},
		{"a line in which this client may not delete", func(l *lineWorld) {
			l.create("/jobs/kept", "", []zkmem.ACL{{Perms: zkmem.PermRead | zkmem.PermCreate, Scheme: "digest",
				ID: zkmem.DigestAuth("ann:pw").ID}}, zkmem.Persistent)
			l.Lines = []string{"/jobs/kept"}
		}, []string{"warning may-not-delete /jobs/kept"}},
		{"a missing line that this client may not create", func(l *lineWorld) {
			l.create("/jobs/shown", "", []zkmem.ACL{{Perms: zkmem.PermRead, Scheme: "world", ID: "anyone"}},
				zkmem.Persistent)
			l.Lines, l.Auth = []string{"/jobs/shown/line"}, nil
		}, []string{"unfit may-not-create /jobs/shown"}},
		{"a line that everybody may use", func(l *lineWorld) {
			l.create("/jobs/open", "", zkmem.OpenACL(), zkmem.Persistent)
			l.Lines = []string{"/jobs/open"}
		}, []string{"warning open-line /jobs/open"}},
		{"a line that does not exist", func(l *lineWorld) { l.Lines = []string{"/other/line"} },
			[]string{"warning open-parent /"}},
		{"a line below what everybody may use", func(l *lineWorld) {
			l.create("/open", "", zkmem.OpenACL(), zkmem.Persistent)
			l.create("/open/line", "", anns, zkmem.Persistent)
			l.Lines = []string{"/open/line"}
		}, []string{"note open-parent /open"}},
		{"a line far below what everybody may use", func(l *lineWorld) {
			l.create("/open", "", zkmem.OpenACL(), zkmem.Persistent)
			l.create("/open/jobs", "", anns, zkmem.Persistent)
			l.create("/open/jobs/line", "", anns, zkmem.Persistent)
			l.Lines = []string{"/open/jobs/line", "/open/jobs/missing"}
		}, []string{"note open-parent /open", "note open-parent /open"}},
		{"a missing line below what only others may use", func(l *lineWorld) {
			l.create("/bobs", "", []zkmem.ACL{{Perms: zkmem.PermAll, Scheme: "digest",
				ID: zkmem.DigestAuth("bob:pw").ID}}, zkmem.Persistent)
			l.Lines = []string{"/bobs/a/b"}
		}, []string{"unfit may-not-create /bobs"}},
		{"a hard quota that is reached",
			func(l *lineWorld) { l.quota("count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=1") },
			[]string{"unfit quota /jobs"}},
		{"a soft quota that is reached", func(l *lineWorld) { l.quota("count=1,bytes=-1") },
			[]string{"warning quota /jobs"}},
		{"a quota with room", func(l *lineWorld) { l.quota("count=100,bytes=100000") }, nil},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			l := newLineWorld(t)
			c.plant(l)
			found(t, Examine(t.Context(), l.Settings), c.want...)
		})
	}
}

// What a large line needs is one of the settings.
func TestALargeLineNeedsASetting(t *testing.T) {
	for most, must := range map[int]bool{50: true, 150: false} {
		inBubble(t, fmt.Sprint(most), func(t *testing.T) {
			l := newLineWorld(t)
			l.place("a", 0)
			l.MaxAnswer = most
			set := Examine(t.Context(), l.Settings).Meaning.Set
			n := len(set)
			if n == 0 || set[n-1].Name != "Config.MaxAnswer" || set[n-1].To != "432" || set[n-1].Must != must {
				t.Errorf("%+v", set)
			}
		})
	}
}

// Paths are those that a client with the chroot writes, but for those above it.
func TestPathsAreBelowTheChroot(t *testing.T) {
	inBubble(t, "/jobs", func(t *testing.T) {
		l := newLineWorld(t)
		l.Chroot, l.Lines = "/jobs", []string{"/nightly"}
		l.create("/jobs/nightly/latch-0000000000", "a", anns, zkmem.Persistent)
		l.quota("count=1,bytes=-1")
		found(t, Examine(t.Context(), l.Settings), "unfit blocked /nightly/latch-0000000000", "warning quota /")
		l.Chroot, l.Lines = "/jobs/nightly", []string{"/"}
		found(t, Examine(t.Context(), l.Settings), "unfit blocked /latch-0000000000",
			"warning quota /jobs (above the chroot)")
	})
}

// What is printed does nothing to a terminal, whatever the line's name is.
func TestNamesDoNothingToATerminal(t *testing.T) {
	inBubble(t, "right to left", func(t *testing.T) {
		l := newLineWorld(t)
		l.Lines = []string{"/a\u202eb/c"}
		shown := strings.Join(Examine(t.Context(), l.Settings).Text(false), "\n")
		if strings.Contains(shown, "\u202e") || !strings.Contains(shown, `/a\u202eb/c`) {
			t.Errorf("%q", shown)
		}
	})
}

// Of many nodes in one state the first are named, and the others counted.
func TestManyNodesAreCounted(t *testing.T) {
	inBubble(t, "100", func(t *testing.T) {
		l := newLineWorld(t)
		l.place("a", 0)
		for n := range 100 {
			l.create(fmt.Sprintf("/jobs/nightly/latch-%010d", n+1), "a", anns, zkmem.Persistent)
		}
		r := Examine(t.Context(), l.Settings)
		text := strings.Join(r.Text(true), " ")
		if len(r.Findings) != 100 || !strings.Contains(text, "and 95 more") ||
			!strings.Contains(text, "latch-0000000005") || strings.Contains(text, "latch-0000000006") {
			t.Errorf("%d findings: %s", len(r.Findings), text)
		}
	})
}

// quota sets a quota on /jobs, which has two nodes.
func (l *lineWorld) quota(limits string) {
	for _, node := range []struct{ path, data string }{{"/zookeeper/quota/jobs", ""},
		{"/zookeeper/quota/jobs/zookeeper_limits", limits}, {"/zookeeper/quota/jobs/zookeeper_stats", ""}} {
		l.create(node.path, node.data, zkmem.OpenACL(), zkmem.Persistent)
	}
}

// The access list of a line is shown, without what is derived from passwords.
func TestAccessListsAreShown(t *testing.T) {
	inBubble(t, "digest", func(t *testing.T) {
		r := Examine(t.Context(), newLineWorld(t).Settings)
		if l := r.Lines[0]; len(l.ACL) != 1 || l.ACL[0] != "digest:ann:…:cdrwa" || l.Stranger != "" {
			t.Errorf("%q, a stranger may %q", l.ACL, l.Stranger)
		}
	})
}

// Trying what this client may writes nothing, and is known of every line.
func TestRightsAreTriedWithoutAWrite(t *testing.T) {
	inBubble(t, "ann", func(t *testing.T) {
		l := newLineWorld(t)
		l.Lines = []string{"/jobs/nightly", "/jobs/missing/line"}
		_, before, _ := l.s.Snapshot().Get("/jobs")
		r := Examine(t.Context(), l.Settings)
		if found(t, r); len(r.NotAsked) > 0 {
			t.Errorf("not asked %v", r.NotAsked)
		}
		if _, after, err := l.s.Snapshot().Get("/jobs"); err != nil || after != before {
			t.Errorf("/jobs was %v, is %v (%v)", before, after, err)
		}
		for _, line := range r.Lines {
			if line.MayCreate == nil || !*line.MayCreate || line.MayDelete == nil || !*line.MayDelete {
				t.Errorf("%+v", line)
			}
		}
	})
}
