package interop

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
)

// job is one job with an instance in Java, which sends ElasticJob's requests, and one in
// Go.
type job struct {
	*stage
	path  string
	java  *peer
	proxy *proxy // before the Go instance
	ctx   context.Context
	ours  *incumbent.JobElection
	news  chan struct{} // leadership of the Go instance changed
	token int64
	done  map[string]int
}

const (
	inJava = "10.0.0.1@-@1"
	inGo   = "10.0.0.2@-@2"
)

func newJob(t *testing.T) *job {
	s := newStageOf(t, brief)
	j := &job{stage: s, path: s.root + "/space/job", proxy: newProxy(t, s.addr), news: make(chan struct{}, 1),
		done: map[string]int{}}
	options := curator.options(t)
	j.java = s.peer("java")
	j.java.command = func() *exec.Cmd {
		return exec.Command("java", slices.Concat(options, []string{"Job"}, j.java.arguments())...)
	}
	j.launch()
	ctx, cancel := context.WithTimeout(context.Background(), 3*within)
	j.ctx = ctx
	c, err := incumbent.Open(ctx,
		incumbent.Config{Servers: j.proxy.addr(), SessionTimeout: s.timeout, Tick: s.timeout / 20,
			ConnectRetry: incumbent.RetryForever(50 * time.Millisecond)})
	ok(t, err)
	t.Cleanup(func() {
		defer cancel()
		ok(t, c.Close(ctx))
	})
	j.ours, err = c.JobElection(j.path, incumbent.JobElectionOptions{ID: inGo,
		Retry: incumbent.RetryForever(10 * time.Millisecond)})
	ok(t, err)
	tell := func() {
		select {
		case j.news <- struct{}{}:
		default:
		}
	}
	j.ours.AddListener(incumbent.Listener{IsLeader: func(incumbent.Term) {
		tell()
	}, NotLeader: func(incumbent.Term, error) { tell() }})
	ok(t, j.ours.Start())
	return j
}

func (j *job) launch() {
	j.java.launch()
	j.java.say("stand %s %s", inJava, j.path)
}

// next waits for a marker that is newer than all before, and returns who leads.
// All agree on it.
func (j *job) next() string {
	j.t.Helper()
	marker := j.path + "/leader/election/instance"
	for {
		there, stat, changed, err := j.conn.ExistsW(marker)
		ok(j.t, err)
		if there && stat.Czxid > j.token {
			j.token = stat.Czxid
			break
		}
		select {
		case <-changed:
		case <-time.After(within):
			j.t.Fatalf("gave up waiting for a leader after token %d. The last words:\n%s", j.token, j.last(20))
		}
	}
	data, stat, err := j.conn.Get(marker)
	if errors.Is(err, zk.ErrNoNode) || err == nil && stat.Czxid != j.token {
		return j.next() // gone again
	}
	ok(j.t, err)
	from := j.now()
	j.java.say("who")
	said, _ := j.await(from, "who leads", func(s saying) bool { return s.peer == j.java && s.words[0] == "who" })
	who := string(data)
	if said.words[1] != who {
		j.t.Fatalf("the marker says %s, and Java %s", who, said.words[1])
	}
	for {
		leads, err := j.ours.IsLeaderUntilBlock(j.ctx)
		if !errors.Is(err, incumbent.ErrDeletedAgain) { // it pauses then: this test deletes its markers
			ok(j.t, err)
		}
		if leads == (who == inGo) {
			return who
		}
		select { // the news of the last change is on its way
		case <-j.news:
		case <-j.ctx.Done():
			j.t.Fatalf("the marker says %s, and Go that it leads: %t", who, leads)
		}
	}
}

// away takes leadership from the present leader, each time in another way.
func (j *job) away(round int, leader string) {
	j.t.Helper()
	switch {
	case leader == inJava && round%2 == 0:
		j.done["java killed"]++
		j.java.kill()
		defer j.launch()
	case leader == inJava:
		j.done["java removed its marker"]++
		j.java.say("remove")
	case round%3 == 0:
		j.done["go removed its marker"]++
		ok(j.t, j.ours.RemoveLeader(j.ctx))
	case round%3 == 1:
		j.done["go's marker deleted by hand"]++
		ok(j.t, j.conn.Delete(j.path+"/leader/election/instance", -1))
	default:
		j.done["go cut off until its session ended"]++
		held, err := j.ours.Await(j.ctx)
		for errors.Is(err, incumbent.ErrDeletedAgain) {
			held, err = j.ours.Await(j.ctx)
		}
		ok(j.t, err)
		j.proxy.hole()
		<-held.Context().Done()
		held.Release()
		there, _, gone, err := j.conn.ExistsW(j.path + "/leader/election/instance")
		ok(j.t, err)
		if there {
			<-gone
		}
		j.proxy.heal()
	}
}

// TestAJobIsLedByJavaOrGo: both elect on one path, through kills and removals;
// every marker has a higher token, and both sides name the same leader.
func TestAJobIsLedByJavaOrGo(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	led := map[string]int{}
	for round := range 12 {
		leader := j.next()
		led[leader]++
		j.away(round, leader)
	}
	led[j.next()]++
	j.until(j.path+"/leader/election/latch", "an empty line at the latch", func(names []string) bool {
		return len(names) == 0
	})
	if led[inJava] == 0 || led[inGo] == 0 {
		t.Errorf("the leaders were %v", led)
	}
	t.Logf("leaders: %v; what was done to them: %v", led, j.done)
}
