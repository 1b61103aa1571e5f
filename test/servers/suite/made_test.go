package suite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// made are the nodes below a directory, a line each: path, kind, and length of the data, or null. All have the
// access list of one entry of this scheme. Names that are drawn are GUID, and numbers N. A node that is deleted while
// it is read, as that of a latch that is not needed any more, is left out.
func made(t *testing.T, e ensemble, below, scheme string) (lines []string) {
	t.Helper()
	conn, _, err := zk.Connect([]string{e.servers()}, 20*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	ok(t, err)
	defer conn.Close()
	ok(t, conn.AddAuth("digest", []byte("a:b")))
	var walk func(path string)
	walk = func(path string) {
		data, stat, err := conn.Get(path)
		if err == zk.ErrNoNode {
			return
		}
		ok(t, err)
		list, _, err := conn.GetACL(path)
		if err == zk.ErrNoNode {
			return
		}
		ok(t, err)
		kind := "ephemeral"
		if stat.EphemeralOwner == 0 { // containers show none either
			kind = "persistent"
		}
		length := fmt.Sprint(len(data))
		if data == nil {
			length = "null"
		}
		name := drawn.ReplaceAllString(strings.TrimPrefix(path, below), "GUID")
		lines = append(lines, fmt.Sprint(numbered.ReplaceAllString(name, "N"), " ", kind, " ", length))
		if got := entries(list); !strings.HasSuffix(got, ":31") || !strings.HasPrefix(got, scheme+":") ||
			strings.Contains(got, ",") {
			t.Errorf("%s has the access list %s", path, got)
		}
		children, _, err := conn.Children(path)
		ok(t, err)
		slices.Sort(children)
		for _, child := range children {
			walk(path + "/" + child)
		}
	}
	walk(below)
	return lines[1:]
}

var (
	drawn    = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}`)
	numbered = regexp.MustCompile(`[0-9]{10}$`)
)

func entries(list []zk.ACL) string {
	var all []string
	for _, a := range list {
		all = append(all, fmt.Sprintf("%s:%s:%d", a.Scheme, a.ID, a.Perms))
	}
	return strings.Join(all, ",")
}

// making has what each recipe creates until it has what it is for. Every directory on the way has data of length 0, as
// Curator's parents have: programs in Java read them without a look for null.
var making = []struct {
	name string
	do   func(t *testing.T, c *client, dir string)
	want string
}{
	{"latch", func(t *testing.T, c *client, dir string) {
		l := c.newLatch(dir, incumbent.LatchOptions{ID: "ab"})
		ok(t, l.Start())
		t.Cleanup(l.lead().Release)
	}, `
/a persistent 0
/a/b persistent 0
/a/b/_c_GUID-latch-N ephemeral 2`},
	{"selector", func(t *testing.T, c *client, dir string) {
		led := make(chan struct{})
		s, err := c.Selector(dir, func(l *incumbent.Leadership) error { close(led); <-l.Context().Done(); return nil },
			incumbent.SelectorOptions{ID: "ab"})
		ok(t, err)
		ok(t, s.Start())
		recv(t, led, "the turn")
	}, `
/a persistent 0
/a/b persistent 0
/a/b/_c_GUID-lock-N ephemeral 2`},
	{"election", func(t *testing.T, c *client, dir string) {
		l, err := c.Election(dir, "n_", incumbent.LatchOptions{ID: "ab"})
		ok(t, err)
		ok(t, l.Start())
		held, err := l.Await(c.ctx)
		ok(t, err)
		t.Cleanup(held.Release)
	}, `
/a persistent 0
/a/b persistent 0
/a/b/n_N ephemeral 2`},
	{"mutex", func(t *testing.T, c *client, dir string) {
		m, err := c.Mutex(dir, incumbent.MutexOptions{})
		ok(t, err)
		held, err := m.Lock(c.ctx)
		ok(t, err)
		t.Cleanup(held.Release)
	}, `
/a persistent 0
/a/b persistent 0
/a/b/_c_GUID-lock-N ephemeral 0`},
	{"readwrite", func(t *testing.T, c *client, dir string) {
		l, err := c.ReadWriteLock(dir, incumbent.MutexOptions{})
		ok(t, err)
		held, err := l.RLock(c.ctx)
		ok(t, err)
		t.Cleanup(held.Release)
	}, `
/a persistent 0
/a/b persistent 0
/a/b/_c_GUID-__READ__N ephemeral 0`},
	{"semaphore", func(t *testing.T, c *client, dir string) {
		s, err := c.Semaphore(dir, 2, incumbent.SemaphoreOptions{})
		ok(t, err)
		held, err := s.Acquire(c.ctx, 1)
		ok(t, err)
		t.Cleanup(held.Release)
	}, `
/a persistent 0
/a/b persistent 0
/a/b/leases persistent 1
/a/b/leases/_c_GUID-lease-N ephemeral 0
/a/b/locks persistent 0`},
	{"job election", func(t *testing.T, c *client, dir string) {
		j, err := c.JobElection(dir, incumbent.JobElectionOptions{ID: "ab"})
		ok(t, err)
		ok(t, j.ElectLeader(c.ctx))
	}, `
/a persistent 0
/a/b persistent 0
/a/b/leader persistent 0
/a/b/leader/election persistent 0
/a/b/leader/election/instance ephemeral 2
/a/b/leader/election/latch persistent 0
/a/b/leader/election/seal-GUID ephemeral 2`},
	{"barriers", func(t *testing.T, c *client, dir string) {
		b, err := c.Barrier(dir + "/barrier")
		ok(t, err)
		ok(t, b.Set(c.ctx))
		g, err := c.Gate(dir + "/gate")
		ok(t, err)
		ok(t, g.Open(c.ctx))
		d, err := c.DoubleBarrier(dir+"/double", 1, incumbent.DoubleBarrierOptions{})
		ok(t, err)
		ok(t, d.Enter(c.ctx))
	}, `
/a persistent 0
/a/b persistent 0
/a/b/barrier persistent 0
/a/b/double persistent 0
/a/b/double/GUID ephemeral 0
/a/b/double/ready persistent 0
/a/b/gate persistent 0`},
	{"groups", func(t *testing.T, c *client, dir string) {
		m, err := c.Membership(dir+"/members", "one", nil, incumbent.PersistentNodeOptions{})
		ok(t, err)
		ok(t, m.Start())
		ok(t, m.WaitPresent(c.ctx))
		p, err := c.PersistentNode(dir+"/node", nil, incumbent.PersistentNodeOptions{})
		ok(t, err)
		ok(t, p.Start())
		ok(t, p.WaitPresent(c.ctx))
	}, `
/a persistent 0
/a/b persistent 0
/a/b/members persistent 0
/a/b/members/one ephemeral 0
/a/b/node ephemeral 0`},
	{"counters", func(t *testing.T, c *client, dir string) {
		a, err := c.AtomicLong(dir+"/long", incumbent.AtomicLongOptions{})
		ok(t, err)
		_, err = a.Add(c.ctx, 1)
		ok(t, err)
		s, err := c.SharedCount(dir+"/count", 7)
		ok(t, err)
		_, err = s.Get(c.ctx)
		ok(t, err)
	}, `
/a persistent 0
/a/b persistent 0
/a/b/count persistent 4
/a/b/long persistent 8`},
	{"queue", func(t *testing.T, c *client, dir string) { ok(t, c.wordQueue(dir).Put(c.ctx, "x")) }, `
/a persistent 0
/a/b persistent 0
/a/b/queue-N persistent 11
/a/b-producers persistent 0
/a/b-producers/GUID persistent 1`},
	{"requests", func(t *testing.T, c *client, dir string) {
		_, err := c.Create(dir+"/c/d", nil).Parents().Do(c.ctx)
		ok(t, err)
		_, err = c.Create(dir+"/p/n-", nil).Parents().Protected().Sequential().Do(c.ctx)
		ok(t, err)
		_, err = c.Multi(incumbent.CreateNode(dir+"/m", nil), incumbent.SetData(dir+"/c", nil, -1)).Do(c.ctx)
		ok(t, err)
	}, `
/a persistent 0
/a/b persistent 0
/a/b/c persistent 0
/a/b/c/d persistent 0
/a/b/m persistent 0
/a/b/p persistent 0
/a/b/p/_c_GUID-n-N persistent 0`},
}

func TestEveryNodeThatARecipeMakes(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		for _, scheme := range []string{"world", "digest"} { // the directory of the suite is open
			var auth []incumbent.Auth
			if scheme == "digest" {
				auth = append(auth, incumbent.AuthOf("digest", []byte("a:b")))
			}
			for _, m := range making {
				t.Run(scheme+" "+m.name, func(t *testing.T) {
					at := e.dir() + "-" + scheme + "-" + strings.ReplaceAll(m.name, " ", "-")
					c := connected(t, e, func(c *incumbent.Config) { c.Auth = auth })
					m.do(t, c, at+"/a/b")
					got, want := "", strings.TrimSpace(m.want)
					// What is not needed any more goes.
					for begun := time.Now(); got != want && time.Since(begun) < repeat.Enough; {
						got = strings.Join(made(t, e, at, scheme), "\n")
					}
					if got != want {
						t.Errorf("got\n%s\nwant %s", got, m.want)
					}
				})
			}
		}
	})
}
