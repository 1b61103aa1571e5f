//go:build unix

package main_test

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The exit code of doctor is its verdict.
func TestDoctorSaysWhetherAnEnsembleIsFit(t *testing.T) {
	fit := zkmem.Start(t, zkmem.Options{Tick: 2 * time.Second})
	out := start(t, fit, "doctor", "--admin-port", "0").Exits(0).Out.String()
	programtest.Contains(t, out, "SERVERS\n", "standalone", "tick 2s",
		"After kill -9 nobody leads for up to 19s.", "The server is standalone", "FIT: 0 problems")
	if out := start(t, fit, "doctor", "--admin-port", "0", "--quiet").Exits(0).Out.String(); out != "" {
		t.Errorf("--quiet printed %q", out)
	}
	warned := zkmem.Start(t, zkmem.Options{Tick: 2 * time.Second, MaxSessionTimeout: 10 * time.Second})
	out = start(t, warned, "doctor", "--admin-port", "0", "--quiet").Exits(1).Out.String()
	programtest.Contains(t, out, "WARNING timeout-lowered: "+warned.Addr(), "-> Raise its maxSessionTimeout")
	if strings.Contains(out, "SERVERS") {
		t.Errorf("--quiet printed %q", out)
	}
	unfit := zkmem.Start(t, zkmem.Options{Tick: 4 * time.Second})
	object := start(t, unfit, "doctor", "--admin-port", "0", "--json", "--line", "/jobs/x").Exits(2).Objects()[0]
	first := object["findings"].([]any)[0].(map[string]any)
	if object["schema"] != 1.0 || object["verdict"] != "not fit" || first["id"] != "tick-too-long" ||
		first["valueMs"] != 4000.0 {
		t.Errorf("%v", object)
	}
	start(t, unfit, "doctor", "--admin-port", "0", "--tick", "4s", "--session-timeout", "20s").Exits(0)
	start(t, unfit, "doctor", "--admin-port", "0", "--warn-only").Exits(0)
	out = start(t, nil, "doctor", "--admin-port", "0", "--servers", "127.0.0.1:1").Exits(69).Out.String()
	programtest.Contains(t, out, "unreachable: 127.0.0.1:1", "connection refused", "UNREACHABLE: 1 problem")
}

// The unit and the manifest to copy ask before the start, and start whatever is found.
func TestTheExamplesAskTheDoctor(t *testing.T) {
	for file, asks := range map[string]string{
		"nightly.service": "ExecStartPre=-/usr/local/bin/incumbent doctor --quiet",
		"kubernetes.yaml": "args: [doctor, --quiet, --warn-only,"} {
		text, err := os.ReadFile("../../docs/examples/deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		programtest.Contains(t, string(text), asks)
	}
}

// A command line that is wrong is refused, and says what would be right.
func TestDoctorRefusesAWrongCommandLine(t *testing.T) {
	srv := zkmem.Start(t)
	for _, c := range []struct{ want, flag, value string }{
		{"a positive time", "--within", "0s"}, {"at least 1", "--elections", "0"}, {"5 by default",
			"--sync-limit", "0"},
		{"5 by default", "--sync-limit", "1000000000000"}, {"such as 4194304", "--max-answer", "-1"},
		{"no such file", "--tls-ca", "/nope"}, {"PEM file of authorities", "--tls-ca", "doctor_test.go"},
		{"a port, or 0", "--admin-port", "70000"}, {"begin with a slash", "--line", "jobs"},
		{"begin with a slash", "--scratch", "x"},
	} {
		programtest.Contains(t, start(t, srv, "doctor", c.flag, c.value).Exits(64).Err.String(), c.want)
	}
}

// With the participants' logs, a leader that is older than all of them is found, and a log that cannot be read is said.
func TestDoctorComparesALeaderWithTheLogs(t *testing.T) {
	srv := zkmem.Start(t)
	for _, node := range []string{"/l", "/l/latch-0000000000"} {
		if _, err := srv.Create(node, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	logs := handOver(t)
	out := start(t, srv, "doctor", "--admin-port", "0", "--line", "/l", "--log", logs).Exits(2).Out.String()
	programtest.Contains(t, out, "older-than-logs: /l/latch-0000000000", "the first flight log")
	programtest.Contains(t, start(t, srv, "doctor", "--line", "/l", "--log", "/nope").Exits(66).Err.String(), "--log: ")
}

// A line that is named twice is examined once, and no line of the help is wider than a terminal.
func TestDoctorTakesALineOnce(t *testing.T) {
	srv := zkmem.Start(t)
	out := start(t, srv, "doctor", "--admin-port", "0", "--line", "/a", "--line", "/a").Exits(1).Out.String()
	if n := strings.Count(out, "/a, does not exist"); n != 1 {
		t.Errorf("it is there %d times in\n%s", n, out)
	}
	for line := range strings.Lines(start(t, nil, "doctor", "--help").Exits(0).Out.String()) {
		if len(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("a line has %d columns: %s", len(line)-1, line)
		}
	}
}

// Servers that are silent hold the program up for as long as --within says, and an interrupt ends it.
func TestDoctorEndsInTime(t *testing.T) {
	listen := func() (net.Listener, []string) {
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { silent.Close() })
		return silent, []string{"doctor", "--admin-port", "0", "--connect-timeout", "1h", "--servers",
			silent.Addr().String()}
	}
	silent, args := listen()
	out := start(t, nil, append(args, "--within", "100ms")...).Exits(75).Out.String()
	programtest.Contains(t, out, "NOT KNOWN", "all of "+silent.Addr().String(), "--within 100ms",
		"INCOMPLETE: 0 problems")

	silent, args = listen()
	p := start(t, nil, append(args, "--within", "1h")...)
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p.Signal(syscall.SIGINT)
	if out := p.Exits(130).Out.String(); out != "" {
		t.Errorf("an interrupt printed %q", out)
	}
}
