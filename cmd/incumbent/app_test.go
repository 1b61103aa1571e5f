//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestBadCommandLines(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "auth")
	if err := os.WriteFile(secret, []byte("\n# one\nhunter2-without-scheme\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"bogus":                   `no command "bogus"`,
		"demo":                    "go run ./cmd/demo",
		"help bogus":              `no command "bogus": see incumbent --help`,
		"demo --record x":         "go run ./cmd/demo",
		"bogus --bogus":           `no command "bogus"`,
		"--json":                  "unknown flag: --json",
		"--bogus":                 "unknown flag: --bogus: see incumbent --help",
		"status":                  "status needs a PATH, as in: incumbent status /jobs/nightly",
		"shards":                  "shards needs a PATH, as in: incumbent shards /jobs/partitions",
		"shards /a/":              "ends with a slash: want /a",
		"status x":                "does not begin with a slash: want /x",
		"status /a/":              "ends with a slash: want /a",
		"status /a b":             `does not know what to do with "b"`,
		"status /x --timeout abc": `invalid argument "abc"`,
		"status /x --timeout 1s": "assumed without --tick: set --tick to the ensemble's tickTime, or " +
			"ask for 2.338s",
		"status /x --timeout 1s --tick 2s": "grants no less than 4s",
		"status /x --tick -1s":             "--tick is -1s: give a positive time",
		"status /x --servers ,":            "--servers",
		"status /x --tls-cert a":           "--tls-cert and --tls-key go together",
		"status /x --tls-ca /nope":         "/nope: no such file",
		"status /x --auth-file /nope":      "/nope: no such file",
		"status /x --auth-file " + secret:  "line 3: ",
		"status /x --auth-file /dev/null":  "holds no credential",
		"watch":                            "watch needs a PATH",
		"watch x":                          "does not begin with a slash",
		"resign":                           "resign needs a PATH",
		"elect":                            "elect needs a PATH, as in: incumbent elect /jobs/nightly",
		"elect -- true":                    "elect needs a PATH",
		"elect /x":                         "elect needs a command after --",
		"elect x -- true":                  "PATH: path \"x\" does not begin with a slash",
		"elect /x true -- true":            "the command comes after a --",
		"elect /x --try -1s -- true":       "no negative time",
		"elect /x --try soon -- true":      "must be a duration",
		"lock":                             "lock needs a PATH",
		"lock -- true":                     "lock needs a PATH",
		"lock /x":                          "lock needs a command after --",
		"lock x -- true":                   "PATH: path \"x\" does not begin with a slash",
		"lock /x -n two -- true": `invalid argument "two" for "-n, --permits" flag: must be an integer: ` +
			`see incumbent lock --help`,
		"lock /x true":                       "the command comes after a --",
		"lock /x /y -- true":                 "the command comes after a --",
		"lock /x --no-wait --try 1s -- true": "give one",
		"replay":                             "replay needs a FILE",
		"replay a b":                         "does not know what to do with",
		"chart nope":                         `no chart "nope": there are session, latch, selector, mutex`,
		"chart latch selector":               "one chart at a time",
		"chart latch --format png":           `no format "png": there are md, mermaid, dot, xstate, svg, table`,
		"zk --listen nope":                   "want host:port, such as 127.0.0.1:2181",
		"zk --tick 0s":                       "give a positive time",
		"zk --min-session-timeout -1s":       "--min-session-timeout is -1s: give a positive time",
		"zk --max-session-timeout 1s":        "the shortest timeout 4s",
		"zk --max-frame 3":                   "give at least 64 bytes",
		"zk --tls-listen 127.0.0.1:0":        "needs --tls-cert and --tls-key",
		"zk --tls-cert /nope":                "need --tls-listen",
		"zk --control 0.0.0.0:0": "incumbent: --control: address \"0.0.0.0:0\" is not on the loopback: " +
			"give a token, or listen on 127.0.0.1 (the token is in INCUMBENT_CONTROL_TOKEN)",
		"zk --control nope":                       "--control \"nope\": want host:port",
		"zk 127.0.0.1:2181":                       "does not know what to do with",
		"status /x\x1b[31m --servers 127.0.0.1:1": "that ZooKeeper does not allow",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			p := start(t, nil, strings.Split(args, " ")...).Exits(64)
			programtest.Contains(t, p.Err.String(), says)
			if strings.Count(p.Err.String(), "\n") != 1 || p.Out.String() != "" {
				t.Errorf("want one line, on stderr:\n%s", p.Said())
			}
			if strings.Contains(p.Err.String(), "hunter2") || strings.Contains(p.Err.String(), "\x1b") {
				t.Errorf("what must not be shown is: %q", p.Err.String())
			}
		})
	}
}

// Settings that the library refuses end every program that connects, before it does.
func TestRefusedSettings(t *testing.T) {
	for _, args := range [][]string{{"status", line}, {"watch", line}, {"resign", line}, {"elect", line, "--", "true"},
		{"lock", line, "--", "true"}} {
		p := start(t, nil, append([]string{args[0], "--timeout", "1s"}, args[1:]...)...).Exits(64)
		programtest.Contains(t, p.Err.String(), "set --tick to the ensemble's tickTime")
	}
}

func TestNoServerAnswers(t *testing.T) {
	for _, args := range [][]string{{"status", line}, {"watch", line}, {"resign", line}, {"elect", line, "--", "true"},
		{"lock", line, "--", "true"}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			flags := []string{args[0], "--servers", "127.0.0.1:1,127.0.0.1:2", "--connect-timeout", "300ms"}
			p := start(t, nil, append(flags, args[1:]...)...).Exits(69)
			programtest.Contains(t, p.Err.String(), "not connected to 127.0.0.1:1,127.0.0.1:2: ", "connection refused",
				"gave up after 300ms", "--servers or INCUMBENT_SERVERS", "incumbent zk")
		})
	}
}

func TestCredentialsComeFromAFile(t *testing.T) {
	srv := zkmem.Start(t)
	secret := filepath.Join(t.TempDir(), "auth")
	if err := os.WriteFile(secret, []byte("digest:bob:hunter2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := elect(t, srv, "echo up; read line", "--auth-file", secret, "--id", "bob")
	p.Prints("up")
	p.Notes("others may read")
	programtest.Contains(t, start(t, srv, "status", line, "--auth-file", secret).Exits(0).Out.String(),
		`"bob" is first in line`)
	stranger := start(t, srv, "status", line).Wait()
	if stranger != 77 {
		t.Errorf("without credentials: exit code %d, want 77", stranger)
	}
	p.In.Close()
	p.Exits(1)
	if strings.Contains(p.Said(), "hunter2") {
		t.Error("the password is shown")
	}
}

// Somebody who types the bare name on a server gets help, and nothing happens.
func TestWithoutACommandThereIsHelp(t *testing.T) {
	srv := zkmem.Start(t)
	alone, asked := start(t, srv).Exits(0), start(t, srv, "--help").Exits(0)
	if alone.Out.String() != asked.Out.String() || alone.Err.String() != "" {
		t.Errorf("alone:\n%s\nasked for help:\n%s", alone.Said(), asked.Said())
	}
	programtest.Contains(t, alone.Out.String(), "Available Commands:", "status ")
}

func TestHelpTeaches(t *testing.T) {
	for _, command := range []string{"", "status"} {
		words := start(t, nil, strings.Fields("help "+command)...).Exits(0).Out.String()
		if want := start(t, nil, strings.Fields(command+" --help")...).Exits(0).Out.String(); words != want {
			t.Errorf("help %s:\n%s\nwant\n%s", command, words, want)
		}
	}
	for _, command := range []string{"", "elect", "lock", "status", "watch", "resign", "replay", "chart", "zk"} {
		args := strings.Fields(command + " --help")
		programtest.Contains(t, start(t, nil, args...).Exits(0).Out.String(), "Exit codes", "Examples:",
			"incumbent "+command)
	}
}

// What the help says of flags fits into a terminal. That of watch fits as a whole.
func TestFlagsFitIntoATerminal(t *testing.T) {
	for _, command := range []string{"elect", "lock", "status", "doctor", "watch", "resign", "replay", "why", "serve",
		"play", "chart", "zk"} {
		_, flags, _ := strings.Cut(start(t, nil, command, "--help").Exits(0).Out.String(), "\nFlags:\n")
		if flags == "" {
			t.Errorf("%s shows no flags", command)
		}
		if command == "watch" {
			flags = start(t, nil, command, "--help").Exits(0).Out.String()
		}
		for line := range strings.Lines(flags) {
			if len(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%s has a line of %d columns: %s", command, len(line)-1, line)
			}
		}
	}
}
