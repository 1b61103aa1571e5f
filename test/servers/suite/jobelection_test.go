package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// job is a candidate with its own client, as an instance has.
type job struct {
	*incumbent.JobElection
	handle
}

// instance starts a candidate, and does not wait.
func instance(t *testing.T, e ensemble, id string) job {
	t.Helper()
	return connected(t, e).stand(e.dir(), id)
}

func (c *client) stand(path, id string) job {
	c.t.Helper()
	j, err := c.JobElection(path, incumbent.JobElectionOptions{ID: id, Retry: incumbent.RetryForever(1)})
	ok(c.t, err)
	c.made["jobelection"]++
	ok(c.t, j.Start())
	return job{j, handle{c, events.ID(fmt.Sprintf("jobelection-%d", c.made["jobelection"]))}}
}

func election(e ensemble, name string) string { return e.dir() + "/leader/election/" + name }

// leader waits until one of the instances leads and the others know it.
func leader(t *testing.T, all ...job) (lead job, rest []job) {
	t.Helper()
	for _, j := range all {
		leads, err := j.IsLeaderUntilBlock(j.c.ctx)
		ok(t, err)
		if leads {
			lead = j
		} else {
			rest = append(rest, j)
		}
	}
	if len(rest) != len(all)-1 {
		t.Fatalf("%d of %d instances follow", len(rest), len(all))
	}
	return lead, rest
}

func (j job) lead() *incumbent.Leadership {
	j.c.t.Helper()
	held, err := j.Await(j.c.ctx)
	if err != nil {
		j.c.t.Fatalf("Await: %v\n%s", err, j.c.tape.Tail(30))
	}
	return held
}

func TestInstancesElectAJobsLeader(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		a, b, c := instance(t, e, "a"), instance(t, e, "b"), instance(t, e, "c")
		first, rest := leader(t, a, b, c)
		who, there, err := rest[0].First(rest[0].c.ctx)
		ok(t, err)
		if !there || who.ID != first.ID() || who.Path != election(e, "instance") || !first.HasLeadership() ||
			rest[0].HasLeadership() {
			t.Fatalf("%s leads, and %s sees %+v (%t)", first.ID(), rest[0].ID(), who, there)
		}
		e.untilChildren(election(e, "latch"), 0) // nobody stays in the latch's line

		// The leader goes: another one leads, under a higher token.
		held := first.lead()
		held.Release()
		ok(t, first.Close(first.c.ctx))
		for _, j := range rest {
			j.c.tape.Until("a second election", func(records []events.Record) bool {
				for _, r := range records {
					if r.Machine == j.id && r.From == "standby" && r.To == "looking" {
						return true
					}
				}
				return false
			})
		}
		second, others := leader(t, rest...)
		next := second.lead()
		if next.Token() <= held.Token() {
			t.Errorf("token %d after %d", next.Token(), held.Token())
		}
		is(t, others[0].RemoveLeader(others[0].c.ctx), incumbent.ErrNotLeading)

		// An operator takes leadership away: the term ends, and somebody leads.
		seen := watch(second.AddListener)
		seen.until(t, "started")
		who, _, err = second.First(second.c.ctx)
		ok(t, err)
		ok(t, others[0].c.Evict(others[0].c.ctx, who))
		<-next.Context().Done()
		is(t, context.Cause(next.Context()), incumbent.ErrLeadershipLost)
		next.Release()
		won := make(chan *incumbent.Leadership, 2)
		ctx, cancel := context.WithCancel(second.c.ctx)
		for _, j := range rest {
			go func() {
				if held, err := j.Await(ctx); err == nil {
					won <- held
				}
			}()
		}
		last := recv(t, won, "a third leader")
		cancel()
		if last.Token() <= next.Token() {
			t.Errorf("token %d after %d", last.Token(), next.Token())
		}
		last.Release()
	})
}

func TestRemoveLeaderElectsAgain(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		a := instance(t, e, "")
		if want := incumbent.JobInstanceID(); a.ID() != want ||
			!strings.HasSuffix(want, fmt.Sprintf("@-@%d", os.Getpid())) {
			t.Errorf("the id is %q, and JobInstanceID %q", a.ID(), want)
		}
		ok(t, a.ElectLeader(a.c.ctx))
		held := a.lead()
		done := make(chan error, 1)
		go func() { done <- a.RemoveLeader(a.c.ctx) }()
		<-held.Context().Done()
		if there, err := a.HasLeader(a.c.ctx); err != nil || !there {
			t.Errorf("the marker went under running work: %t, %v", there, err)
		}
		held.Release()
		ok(t, recv(t, done, "RemoveLeader"))
		again := a.lead()
		if again.Token() <= held.Token() {
			t.Errorf("token %d after %d", again.Token(), held.Token())
		}
		closed := make(chan error, 1)
		go func() { closed <- a.Close(brief()) }()
		is(t, recv(t, closed, "Close"), incumbent.ErrWorkRunning)
		again.Release()
		ok(t, a.Close(a.c.ctx))
		e.untilGone(election(e, "instance"))
	})
}

func TestAJobIsTakenOncePerClient(t *testing.T) {
	e := inMemory(t)
	a := instance(t, e, "a")
	_, err := a.c.JobElection(e.dir(), incumbent.JobElectionOptions{})
	is(t, err, incumbent.ErrJobTaken)
	if _, err := a.c.JobElection("job", incumbent.JobElectionOptions{}); err == nil {
		t.Error("a path without a slash was taken")
	}
	ok(t, a.Close(a.c.ctx))
	b := a.c.stand(e.dir(), "b")
	ok(t, b.ElectLeader(b.c.ctx))

	other, err := a.c.JobElection("/other", incumbent.JobElectionOptions{})
	ok(t, err)
	_, err = other.IsLeaderUntilBlock(a.c.ctx)
	is(t, err, incumbent.ErrNotStarted)
	is(t, other.RemoveLeader(a.c.ctx), incumbent.ErrNotStarted)
	ok(t, other.Close(a.c.ctx))
	is(t, other.ElectLeader(a.c.ctx), incumbent.ErrClosed)
	_, err = other.IsLeaderUntilBlock(a.c.ctx)
	is(t, err, incumbent.ErrClosed)
}

func TestAGuardedWriteOfAJobsLeader(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		a := instance(t, e, "a")
		held := a.lead()
		defer held.Release()
		data := e.dir() + "/shards"
		results, err := held.Write(a.c.ctx, incumbent.CreateNode(data, []byte("one")))
		ok(t, err)
		if len(results) != 1 || results[0].Path != data {
			t.Fatalf("%+v", results)
		}
		results, err = held.Write(a.c.ctx, incumbent.SetData(data, nil, 7))
		var refused *incumbent.Error
		if !errors.As(err, &refused) || refused.Code != events.BadVersion || len(results) != 1 ||
			errors.Is(err, incumbent.ErrLeadershipLost) {
			t.Fatalf("%v, %+v", err, results)
		}
	})
}

// TestAWriteUnderAnothersMarker: the news of what was done to the marker does not
// arrive. Another instance leads, and its marker has the same name, or the marker is
// the old one with other data.
func TestAWriteUnderAnothersMarker(t *testing.T) {
	for name, act := range map[string]func(t *testing.T, e memory, marker string){
		"ours": func(t *testing.T, e memory, marker string) {
			e.remove(marker)
			instance(t, e, "b").lead().Release()
		},
		"java's": func(_ *testing.T, e memory, marker string) {
			e.remove(marker)
			e.create(marker, "10.0.0.1@-@7", 0)
		},
		"the same, with other data": func(_ *testing.T, e memory, marker string) { e.set(marker, "10.0.0.1@-@7") },
	} {
		t.Run(name, func(t *testing.T) {
			e := inMemory(t)
			a := instance(t, e, "a")
			held := a.lead()
			defer held.Release()
			marker := election(e, "instance")
			session := e.session(marker)
			e.Freeze(zkmem.Outbound, session)
			act(t, e, marker)
			written := make(chan error, 1)
			arrived := e.once(func(r zkmem.Request) bool {
				return multi(r) && r.Path == marker && r.Session == session
			}, func(zkmem.Request) zkmem.Verdict {
				return zkmem.Verdict{}
			})
			go func() {
				_, err := held.Write(a.c.ctx, incumbent.CreateNode("/written", nil))
				written <- err
			}()
			recv(t, arrived, "the write")
			e.Heal()
			is(t, recv(t, written, "the write's answer"), incumbent.ErrLeadershipLost)
			e.View(func(v *zkmem.View) {
				if v.Exists("/written") {
					t.Error("the write was carried out under another's marker")
				}
			})
		})
	}
}

// TestExecuteInLeader: two instances never do the one thing at the same time.
func TestExecuteInLeader(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		a, b := instance(t, e, "a"), instance(t, e, "b")
		var inside sync.Mutex
		var all sync.WaitGroup
		for _, j := range []job{a, b} {
			all.Go(func() {
				for range 3 {
					err := j.ExecuteInLeader(j.c.ctx, "leader/failover/latch", func(l *incumbent.Leadership) error {
						if !inside.TryLock() {
							t.Error("two at a time")
							return nil
						}
						defer inside.Unlock()
						return l.Check()
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		wrong := errors.New("it broke")
		is(t, a.ExecuteInLeader(a.c.ctx, "/leader/failover/latch", func(*incumbent.Leadership) error { return wrong }),
			wrong)
		is(t, a.ExecuteInLeader(brief(), "leader/failover/latch", func(*incumbent.Leadership) error { return nil }),
			context.Canceled)
		e.untilChildren(path.Join(e.dir(), "leader/failover/latch"), 0)
	})
}
