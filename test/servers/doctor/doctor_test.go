package doctor_test

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/internal/doctor"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Three servers of the usual release: healthy, then with one condition after the other.
func TestThreeServers(t *testing.T) {
	e := ensemble.Start(t, ensemble.Options{SyncLimit: 10, Named: true,
		Properties: []string{"readonlymode.enabled=true"}})
	leader, followers := e.Whole()
	all := []string{leader.Addr(), followers[0].Addr(), followers[1].Addr()}
	s := settings(all...)
	s.Deep, s.SyncLimit = true, 10
	r := examine(t, s)
	if r.Verdict != doctor.Fit || r.Deep.Watch == nil || !*r.Deep.Containers || *r.Deep.TTL || !*r.Deep.Recursive ||
		r.Servers[0].Role != "leader" || len(r.NotAsked) > 0 {
		t.Errorf("%s", strings.Join(r.Text(false), "\n"))
	}
	if t.Failed() { // the servers may have begun a round of their own election
		for line := range strings.Lines(e.Logs()) {
			if strings.HasPrefix(line, "== ") || strings.HasPrefix(line, "[QuorumPeer") {
				t.Log(line)
			}
		}
	}
	if strings.HasPrefix(r.Servers[0].Version, "3.8.0") && !slices.Contains(faults(r), "ZOOKEEPER-4466") {
		t.Errorf("the faults of 3.8.0 are %q", faults(r))
	}
	s.Deep, s.SyncLimit = false, 0
	examine(t, s, "note sync-limit ensemble")
	s.SyncLimit, s.Servers = 10, all[1:2]
	if r := examine(t, s, "note list-incomplete ensemble"); len(r.Servers) != 3 {
		t.Errorf("%d servers were asked", len(r.Servers))
	}
	s.Servers = all

	s.Timeout = 6 * time.Second
	e.Delay(leader, followers[0], 800*time.Millisecond)
	examine(t, s, "warning lag "+all[1], "warning slow-sync "+all[1])
	e.Heal()
	e.Cut(followers[0], leader)
	e.Cut(followers[0], followers[1])
	followers[0].Answers("isro", "ro")
	examine(t, s, "warning read-only "+all[1])
	e.Heal()
	s.Timeout = 15 * time.Second
	oddFollower(t, e, followers[0], s)

	followers[0].Kill()
	examine(t, s, "warning unreachable "+all[1])
	leader.Kill()
	followers[1].Answers("isro", "ro")
	r = examine(t, s, "unfit unreachable "+all[0], "unfit unreachable "+all[1], "unfit read-only "+all[2])
	if r.Verdict != doctor.Unreachable {
		t.Error(r.Verdict)
	}
}

// oddFollower has a follower started with settings that the others do not have, and an observer behind it.
func oddFollower(t *testing.T, e *ensemble.Ensemble, follower *ensemble.Server, s doctor.Settings) {
	t.Helper()
	addr, err := zkmem.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(addr)
	follower.Configure("observerMasterPort="+port, "tickTime=4000")
	follower.Restart()
	e.Whole()
	observer := e.Observe(port)
	s.Servers = append(slices.Clone(s.Servers), observer)
	examine(t, s, "unfit tick-too-long "+follower.Addr(), "unfit observer-master "+follower.Addr(),
		"warning not-listed "+observer, "warning ticks-differ ensemble",
		"warning grants-differ "+follower.Addr())
}

// A server that is set up badly in every way that shows on one server, and is of another ensemble than a good one: what
// a client meets by TLS, with a clock that is an hour ahead and runs a tenth too fast, and a slow disk.
func testABadServer(t *testing.T, good string) {
	shim(t, map[string]string{"SHIM_CLOCK_S": "3600", "SHIM_CLOCK_FASTER": "10", "SHIM_FSYNC_MS": "110"})
	tls, files := securedUntil(t, time.Now().Add(24*time.Hour))
	srv := realzk.Start(t, realzk.Options{Tick: 4 * time.Second, MaxTimeout: 10 * time.Second, Release: realzk.Newest,
		Properties: append(files, "jute.maxbuffer=65536", "zookeeper.skipACL=yes",
			"zookeeper.extendedTypesEnabled=true", "zookeeper.forceSync=yes"),
		Settings: []string{"4lw.commands.whitelist=srvr,mntr", "minSessionTimeout=2000",
			"secureClientPortAddress=127.0.0.1", "secureClientPort=" + tls.port}})
	plant(t, connect(t, srv.Addr()), "/closed", closed)
	where := "localhost:" + tls.port
	s := settings(where)
	s.Deep, s.TLS, s.Lines = true, tls.client, []string{"/closed"}
	r := examine(t, s, "unfit drifting-clock "+where, "warning tick-unknown "+where, "warning timeout-lowered "+where,
		"warning lists-unchecked /closed", "warning open-line /closed", "warning certificate-ends "+where,
		"warning wrong-clock "+where, "warning small-buffer "+where, "warning slow-disk "+where,
		"note words-closed "+where)
	if !*r.Deep.TTL || r.Deep.Commit.Median < doctor.Millis(110*time.Millisecond) {
		t.Errorf("%+v", r.Deep)
	}
	s = settings(good, srv.Addr())
	s.Tick = 4 * time.Second
	examine(t, s, "unfit other-ensemble "+srv.Addr(), "note words-closed "+srv.Addr())
	srv.Pause(t)
	s = settings(srv.Addr())
	s.Step = time.Second
	examine(t, s, "unfit unreachable "+srv.Addr())
}
