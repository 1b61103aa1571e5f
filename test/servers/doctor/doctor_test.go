package doctor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/internal/doctor"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

// settings are those for some servers, with a bound for each answer that a busy machine keeps.
func settings(addresses ...string) doctor.Settings {
	return doctor.Settings{Servers: addresses, Timeout: 15 * time.Second, Step: repeat.Enough}
}

// examine examines, and checks that the findings are these and the release's known faults.
func examine(t *testing.T, s doctor.Settings, want ...string) doctor.Report {
	t.Helper()
	r := doctor.Examine(t.Context(), s)
	var got []string
	for _, f := range r.Findings {
		if f.ID != "known-fault" {
			got = append(got, fmt.Sprintf("%s %s %s", f.Severity, f.ID, f.Where))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q\n%s", got, want, strings.Join(r.Text(false), "\n"))
	}
	return r
}

// faults are the numbers of the known faults in a report.
func faults(r doctor.Report) (all []string) {
	for _, f := range r.Findings {
		if f.Fault != "" {
			all = append(all, f.Fault)
		}
	}
	return all
}

// connect is an operator's connection to a server.
func connect(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Three servers of the usual release: healthy, then with one condition after the other.
func TestThreeServers(t *testing.T) {
	e := ensemble.Start(t, ensemble.Options{SyncLimit: 10, Properties: []string{"readonlymode.enabled=true"}})
	leader, followers := e.Whole()
	all := []string{leader.Addr(), followers[0].Addr(), followers[1].Addr()}
	s := settings(all...)
	s.Deep, s.SyncLimit = true, 10
	r := examine(t, s)
	if r.Verdict != doctor.Fit || r.Deep.Watch == nil || !*r.Deep.Containers || !*r.Deep.Recursive ||
		r.Servers[0].Role != "leader" {
		t.Errorf("%s", strings.Join(r.Text(false), "\n"))
	}
	if strings.HasPrefix(r.Servers[0].Version, "3.8.0") && !slices.Contains(faults(r), "ZOOKEEPER-4466") {
		t.Errorf("the faults of 3.8.0 are %q", faults(r))
	}
	s.Deep, s.SyncLimit = false, 0
	examine(t, s, "note sync-limit ensemble")
	s.SyncLimit, s.Timeout = 10, 60*time.Second
	examine(t, s, "warning timeout-lowered "+all[0], "warning timeout-lowered "+all[1],
		"warning timeout-lowered "+all[2])
	s.Timeout = 15 * time.Second

	s.Timeout = 6 * time.Second
	e.Delay(leader, followers[0], 800*time.Millisecond)
	r = doctor.Examine(t.Context(), s)
	for _, f := range r.Findings {
		if f.Where != all[1] && f.ID != "known-fault" {
			t.Errorf("found %+v", f)
		}
	}
	if !slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool { return f.ID == "lag" && f.Where == all[1] }) {
		t.Errorf("no lag was found:\n%s", strings.Join(r.Text(false), "\n"))
	}
	e.Heal()
	followers[0].Kill()
	examine(t, s, "warning unreachable "+all[1])
	leader.Kill()
	followers[1].Answers("isro", "ro")
	r = examine(t, s, "unfit unreachable "+all[0], "unfit unreachable "+all[1], "unfit read-only "+all[2])
	if r.Verdict != doctor.Unreachable {
		t.Error(r.Verdict)
	}
}

// A server of the newest release: healthy, and with lines that are not.
func TestOneServerAndItsLines(t *testing.T) {
	srv := realzk.Start(t, realzk.Options{Release: realzk.Newest})
	s := settings(srv.Addr())
	s.Deep = true
	if r := examine(t, s); len(r.Findings) > 0 || r.Verdict != doctor.Fit {
		t.Errorf("found %v", r.Findings)
	}
	conn := connect(t, srv.Addr())
	create := func(path string, flags int32) {
		t.Helper()
		if _, err := conn.Create(path, nil, flags, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	create("/open", 0)
	s.Deep, s.Lines = false, []string{"/open"}
	examine(t, s, "warning open-line /open")
	create("/open/latch-0000000007", zk.FlagEphemeral)
	create("/open/latch-0000000003", zk.FlagEphemeral)
	examine(t, s, "unfit forged-number /open", "warning open-line /open")
	create("/open/latch-0000000001", 0)
	examine(t, s, "unfit blocked /open/latch-0000000001", "unfit forged-number /open", "warning open-line /open")
	s.Lines = []string{"/missing/line"}
	examine(t, s, "warning open-parent /")
}

// A server that is set up badly in every way that shows on one server.
func TestABadServer(t *testing.T) {
	srv := realzk.Start(t, realzk.Options{Tick: 4 * time.Second, MaxTimeout: 10 * time.Second, Release: realzk.Newest,
		Properties: []string{"jute.maxbuffer=65536"},
		Settings:   []string{"4lw.commands.whitelist=srvr", "minSessionTimeout=2000"}})
	s := settings(srv.Addr())
	s.Deep = true
	examine(t, s, "warning tick-unknown "+srv.Addr(), "warning timeout-lowered "+srv.Addr(),
		"warning small-buffer "+srv.Addr(), "note words-closed "+srv.Addr())

	other := realzk.Start(t, realzk.Options{Tick: 4 * time.Second, Release: realzk.Newest})
	s = settings(other.Addr())
	examine(t, s, "unfit tick-too-long "+other.Addr())
	s.Deep, s.Tick = true, 4*time.Second
	s.Now = func() time.Time { return time.Now().Add(time.Hour) }
	examine(t, s, "warning wrong-clock "+other.Addr())
	s = settings(other.Addr(), srv.Addr())
	s.Tick = 4 * time.Second
	examine(t, s, "unfit other-ensemble "+srv.Addr(), "note words-closed "+srv.Addr())
}
