package main

import (
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/bench/servers"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) != "" {
		exit(work())
	}
	os.Exit(m.Run())
}

// frame is a request as it leaves: its length, an xid, a code and a body.
func frame(op int32, body int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+body))
	b = binary.BigEndian.AppendUint32(b, 7)
	return append(binary.BigEndian.AppendUint32(b, uint32(op)), make([]byte, body)...)
}

func TestFramesAreCountedHoweverTheyAreCut(t *testing.T) {
	var sent []byte
	for _, f := range [][]byte{frame(0, 32) /* the connect request */, frame(opList, 40), frame(opPing, 0),
		frame(opMulti, 100), frame(-11, 0), frame(101, 5)} {
		sent = append(sent, f...)
	}
	for size := 1; size <= len(sent); size++ {
		var all traffic
		here, there := net.Pipe()
		there.Close()
		here.Close()
		c := &counted{Conn: here, all: &all}
		for rest := sent; len(rest) > 0; {
			n := min(size, len(rest))
			c.count(rest[:n])
			rest = rest[n:]
		}
		got := all.read()
		if got.Requests[opList] != 1 || got.Requests[opPing] != 1 || got.Requests[opMulti] != 1 ||
			got.Requests[0] != 1 || got.Requests[101] != 1 || got.all() != 4 {
			t.Fatalf("in pieces of %d: %v", size, got.Requests)
		}
	}
}

func TestTrafficIsSubtracted(t *testing.T) {
	earlier := Traffic{Requests: map[int]int64{opList: 2}, Connections: 1, Up: 10, Down: 20}
	later := Traffic{Requests: map[int]int64{opList: 5, opSync: 1}, Connections: 3, Up: 15, Down: 50}
	got := later.since(earlier)
	if got.Requests[opList] != 3 || got.Requests[opSync] != 1 || got.Connections != 2 || got.Up != 5 || got.Down != 30 {
		t.Errorf("got %+v", got)
	}
	if later.Requests[opList] != 5 {
		t.Error("the later counts were changed")
	}
}

// A process that stands still is killed, and the run ends with an error that says so.
func TestAProcessThatDoesNotAnswerIsKilled(t *testing.T) {
	p, err := startProcess(0, 1, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := (fleet{p}).look(); err == nil ||
		!strings.Contains(err.Error(), "did not answer within 50ms (-within) and was killed") {
		t.Errorf("got %v", err)
	}
	p.kill()
}

func TestBadFlagsAreRefused(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("<!-- servers 1 -->\n<!-- /servers 1 -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := options{servers: 1, sessions: 8, processes: 4, rest: time.Second, within: time.Minute, into: page}
	for want, change := range map[string]func(*options){
		"-servers 0":        func(o *options) { o.servers = 0 },
		"-processes 3":      func(o *options) { o.processes = 3 },
		"-sessions 9":       func(o *options) { o.sessions = 9 },
		`-only "elsewhere"`: func(o *options) { o.only = "elsewhere" },
		"-rest -1s":         func(o *options) { o.rest = -time.Second },
		"-within 1s":        func(o *options) { o.within = time.Second },
		"-into: open":       func(o *options) { o.into = page + ".not" },
		"-into: " + page + ": the file has no marks <!-- servers 3 -->": func(o *options) { o.servers = 3 },
	} {
		bad := good
		change(&bad)
		if err := bad.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that names %s", err, want)
		}
	}
	if err := good.check(); err != nil {
		t.Error(err)
	}
}

func TestTablesReplaceThoseOfTheirMarks(t *testing.T) {
	page := "a\n<!-- servers 1 -->\nold\n<!-- /servers 1 -->\nb\n"
	got, err := embed(page, "servers 1", "new\n")
	if want := strings.Replace(page, "old", "new", 1); got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := embed(page, "servers 3", "new\n"); err == nil {
		t.Error("marks that are not there were found")
	}
}

// Every scenario comes to its end on a real server, and what it counts is what happened.
func TestScenarios(t *testing.T) {
	realzk.Require(t)
	for _, name := range scenarioNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time is spent waiting for sessions to expire
			group, err := servers.ZooKeeper(t.Context(), realzk.Usual, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer group.Close()
			s := &stage{options: options{servers: 1, sessions: 8, processes: 2, within: 3 * time.Minute},
				ensemble: &ensemble{Group: group}, title: name}
			defer func() { s.fleet.kill() }()
			if err := scenarios[name](t.Context(), s); err != nil {
				t.Fatal(err)
			}
			for _, step := range s.steps {
				name, traffic := step.name, step.clients.Traffic
				lists := strings.HasSuffix(name, "start") || name == "all servers restart"
				if lists && traffic.Requests[opList] == 0 {
					t.Errorf("%s: no listing was counted: %v", name, traffic.Requests)
				}
			}
			if rows := strings.Count(s.table(), "\n| "); rows != len(s.steps)+1 {
				t.Errorf("%d rows for %d steps:\n%s", rows, len(s.steps), s.table())
			}
		})
	}
}
