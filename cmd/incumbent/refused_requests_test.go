//go:build unix

package main_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// nobodys is an access list that forbids everything to all clients of the tests.
var nobodys = []zkmem.ACL{{Perms: zkmem.PermAll, Scheme: "digest", ID: "x:y"}}

// everyCommand has the commands that connect.
func everyCommand(flags ...string) (all [][]string) {
	for _, command := range [][]string{{"status", line}, {"watch", line}, {"resign", line},
		{"elect", line, "--", "true"}, {"lock", line, "--", "true"}} {
		all = append(all, append(append([]string{command[0]}, flags...), command[1:]...))
	}
	return all
}

func TestAChrootThatDoesNotExistIsSaid(t *testing.T) {
	srv := zkmem.Start(t)
	for _, args := range everyCommand("--servers", srv.Addr()+"/app") {
		t.Run(args[0], func(t *testing.T) {
			p := start(t, srv, args...).Exits(78)
			programtest.Contains(t, p.Err.String(), "the chroot /app has to exist already: create it first\n")
			if p.Out.String() != "" || strings.Count(p.Err.String(), "\n") != 1 {
				t.Errorf("want one line, on stderr:\n%s", p.Said())
			}
		})
	}
	if _, err := srv.Create("/app", nil, zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
	programtest.Contains(t, start(t, srv, "status", line, "--servers", srv.Addr()+"/app").Exits(0).Out.String(),
		"vacant")
}

// A server may forbid to look at the chroot, and not at what is below it.
func TestAChrootThatMayNotBeReadIsNoMissingOne(t *testing.T) {
	srv := zkmem.Start(t)
	srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpExists && r.Path == "/app" {
			return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.NoAuth}
		}
		return zkmem.Verdict{}
	})
	programtest.Contains(t, start(t, srv, "status", line, "--servers", srv.Addr()+"/app").Exits(0).Out.String(),
		"vacant")
}

// refuseCredentials has a server refuse all of them.
func refuseCredentials(srv *zkmem.Server) {
	srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpAuth {
			return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.AuthFailed}
		}
		return zkmem.Verdict{}
	})
}

// Refused credentials are a definite answer: no command waits for more than that.
func TestRefusedCredentialsEndEveryCommandAtOnce(t *testing.T) {
	srv := zkmem.Start(t)
	refuseCredentials(srv)
	t.Setenv("INCUMBENT_AUTH", "")
	for _, args := range everyCommand("--connect-timeout", "1h") {
		t.Run(args[0], func(t *testing.T) {
			p := programtest.Start(t, []string{"INCUMBENT_AUTH=digest:bob:hunter2", "INCUMBENT_SERVERS=" + srv.Addr()},
				args...).Exits(77)
			programtest.Contains(t, p.Err.String(), "the credentials are not accepted")
			if strings.Contains(p.Said(), "hunter2") || strings.Count(p.Err.String(), "\n") != 1 {
				t.Errorf("want one line, without the password:\n%s", p.Said())
			}
		})
	}
}

// So is the answer of an ensemble that demands SASL.
func TestAnEnsembleThatDemandsSASLEndsEveryCommand(t *testing.T) {
	const demandsSASL = zkmem.Code(-124)
	srv := zkmem.Start(t)
	srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Path != "" {
			return zkmem.Verdict{Action: zkmem.Refuse, Code: demandsSASL}
		}
		return zkmem.Verdict{}
	})
	for _, args := range [][]string{{"status", line}, {"resign", line}, {"elect", line, "--", "true"},
		{"lock", line, "--", "true"}} {
		t.Run(args[0], func(t *testing.T) {
			programtest.Contains(t, start(t, srv, args...).Exits(77).Err.String(), "SASL")
		})
	}
}

// A server that refuses each request for a while is named as the reason for which --try went by.
func TestTryEndsWithTheLastRefusal(t *testing.T) {
	t.Parallel()
	const overloaded = zkmem.Code(-127)
	srv := zkmem.Start(t)
	srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Path != "" {
			return zkmem.Verdict{Action: zkmem.Refuse, Code: overloaded}
		}
		return zkmem.Verdict{}
	})
	for _, args := range [][]string{{"elect"}, {"elect", "--requeue"}, {"lock"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			p := start(t, srv, append(args, line, "--try", "2s", "--", "true")...).Exits(124)
			programtest.Contains(t, p.Err.String(), "after 2s (--try): THROTTLEDOP (the server is overloaded): ")
		})
	}
}

// Credentials that are refused as long as the session may live end the command.
func TestWatchEndsWhenCredentialsAreRefusedLater(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{MinSessionTimeout: time.Second, MaxSessionTimeout: time.Second})
	env := []string{"INCUMBENT_AUTH=digest:bob:hunter2", "INCUMBENT_SERVERS=" + srv.Addr()}
	p := programtest.Start(t, env, "watch", line)
	p.Prints("vacant")
	refuseCredentials(srv)
	for _, s := range srv.Sessions() {
		srv.Disconnect(s.ID)
	}
	p.Exits(77)
	programtest.Contains(t, p.Err.String(), "the connection is lost", "the credentials are not accepted")
}

func TestWatchEndsWhereItMayNotLook(t *testing.T) {
	srv := zkmem.Start(t)
	for _, dir := range []string{"/jobs", line} {
		if _, err := srv.Create(dir, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: line, ACL: nobodys, Version: zkmem.AnyVersion}); err !=
		nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--json=false", "--json"} {
		p := start(t, srv, "watch", line, flag).Exits(77)
		programtest.Contains(t, p.Err.String(), "not authorised: "+line)
		if strings.Count(p.Err.String(), "\n") != 1 || p.Out.String() != "" {
			t.Errorf("want one line, on stderr:\n%s", p.Said())
		}
	}
}

// The node of one participant may be hidden: others are not.
func TestWatchGoesOnBehindAHiddenNode(t *testing.T) {
	srv := zkmem.Start(t)
	participant(t, srv, line, "hidden")
	node, _ := owner(t, srv, line)
	if _, err := srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: node, ACL: nobodys, Version: zkmem.AnyVersion}); err !=
		nil {
		t.Fatal(err)
	}
	p := start(t, srv, "watch", line)
	p.Notes("not authorised: " + node)
	programtest.Contains(t, start(t, srv, "status", line).Exits(0).Out.String(), "1 in line, ? is first: its node ",
		" cannot be read", "unreadable: not authorised")
	if err := srv.Delete(node); err != nil {
		t.Fatal(err)
	}
	p.Prints(`"hidden" is first in line, token `)
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
}

// A refusal that may pass does not end it, and is printed once while it stays the same.
func TestWatchPrintsAPassingErrorOnce(t *testing.T) {
	t.Parallel()
	srv := zkmem.Start(t)
	refused := make(chan struct{}, 1<<10)
	remove := srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpGetChildren || r.Op == zkmem.OpGetChildren2 || r.Op == zkmem.OpExists {
			refused <- struct{}{}
			return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.SystemError}
		}
		return zkmem.Verdict{}
	})
	p := start(t, srv, "watch", line)
	for range 20 { // each of the five lines is listed several times
		<-refused
	}
	remove()
	p.Prints("vacant")
	if n := strings.Count(p.Err.String(), "\n"); n != 1 {
		t.Errorf("%d lines on stderr, want one:\n%s", n, p.Said())
	}
	p.Signal(os.Signal(syscall.SIGTERM))
	p.Exits(0)
}
