//go:build unix

package main_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// lock runs a shell script under a lock.
func lock(t *testing.T, srv *zkmem.Server, script string, flags ...string) *programtest.Program {
	t.Helper()
	args := append([]string{"lock", line}, flags...)
	return start(t, srv, append(args, "--", "sh", "-c", script)...)
}

func TestLockRunsTheCommandAndPassesItsExitCode(t *testing.T) {
	srv := zkmem.Start(t)
	log := filepath.Join(t.TempDir(), "lock.log")
	p := lock(t, srv, `echo "$INCUMBENT_TOKEN $INCUMBENT_PATH $INCUMBENT_NODE"; read line; echo "$line"; exit 7`,
		"--record", log)
	p.Prints(line)
	node, _ := owner(t, srv, line)
	var token int64
	srv.View(func(v *zkmem.View) {
		_, stat, _ := v.Get(node)
		token = stat.Czxid
	})
	p.Notes("holding " + line + " with token")
	fmt.Fprintln(p.In, "done")
	p.Exits(7)
	if want := fmt.Sprintf("%d %s %s\ndone\n", token, line, node); p.Out.String() != want {
		t.Errorf("printed %q, want %q", p.Out.String(), want)
	}
	programtest.Contains(t, p.Err.String(), "held for ", "ended with 7")
	inLine(t, srv, line, 0)
	if n := len(srv.Sessions()); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	programtest.Contains(t, start(t, nil, "replay", log).Exits(0).Out.String(), "the same: ")
}

func TestLockWaitsItsTurnOrNot(t *testing.T) {
	srv := zkmem.Start(t)
	first := lock(t, srv, "echo first; read line; exit 0", "--id", "one")
	first.Prints("first")
	second := lock(t, srv, "echo second", "--id", "two")
	inLine(t, srv, line, 2)
	second.Notes(`1 other in line, "one" is first in line`)
	programtest.Contains(t, start(t, srv, "status", line).Exits(0).Out.String(), "2 in line",
		`"one" is first in line`, "  lock-0")

	srv.ResetCounts()
	third := lock(t, srv, "echo third", "--no-wait").Exits(124)
	programtest.Contains(t, third.Err.String(), "somebody holds "+line)
	if n := srv.Counts().ByOp[zkmem.OpCreate]; n != 0 {
		t.Errorf("%d nodes were made by a command that does not wait", n)
	}
	fourth := lock(t, srv, "echo fourth", "--try", "1ms").Exits(124)
	programtest.Contains(t, fourth.Err.String(), "not holding after 1ms")
	if third.Out.String()+fourth.Out.String()+second.Out.String() != "" {
		t.Fatal("two run at a time")
	}
	inLine(t, srv, line, 2)
	first.In.Close()
	first.Exits(0)
	second.Exits(0).Prints("second")
	lock(t, srv, "echo fifth", "--no-wait").Exits(0).Prints("fifth")
}

func TestALostLockEndsTheCommand(t *testing.T) {
	srv := zkmem.Start(t)
	p := lock(t, srv, stubborn, "--timeout", "4s")
	p.Prints("token ")
	node, _ := owner(t, srv, line)
	if err := srv.Delete(node); err != nil {
		t.Fatal(err)
	}
	p.Exits(75)
	programtest.Contains(t, p.Err.String(), "lock "+line+" (token ", ") lost: the own node was deleted",
		"(--requeue queues again)", "killing process group", "ended with 137")
	inLine(t, srv, line, 0)
}

func TestALostLockIsTakenAgain(t *testing.T) {
	srv := zkmem.Start(t)
	p := lock(t, srv, `trap "exit 0" TERM; echo "token $INCUMBENT_TOKEN"; sleep 1000 & wait`, "--requeue")
	p.Prints("token ")
	node, session := owner(t, srv, line)
	srv.ExpireSession(session)
	p.Notes("queueing again in " + line)
	inLine(t, srv, line, 1)
	if again, _ := owner(t, srv, line); again == node {
		t.Errorf("the same node, %s", node)
	}
	p.Signal(syscall.SIGTERM)
	p.Wait()
	inLine(t, srv, line, 0)
}

// TestLockWithSeveralPermits runs two of three at a time, and refuses who takes
// the limit for another.
func TestLockWithSeveralPermits(t *testing.T) {
	srv := zkmem.Start(t)
	first := lock(t, srv, "echo first; read line; exit 0", "-n", "2", "--id", "one")
	first.Prints("first")
	second := lock(t, srv, "echo second; read line; exit 0", "-n2", "--id", "two")
	second.Prints("second")
	third := lock(t, srv, "echo third", "-n", "2", "--id", "three")
	third.Notes(`all 2 are held, the oldest by "one"`)
	programtest.Contains(t, start(t, srv, "status", line).Exits(0).Out.String(),
		line+": a semaphore, 2 permits held: see incumbent status "+line+"/leases\n")
	programtest.Contains(t, start(t, srv, "status", line+"/leases").Exits(0).Out.String(), "2 permits held", `"one"`,
		`"two"`, "  lease-0")
	programtest.Contains(t, lock(t, srv, "echo fourth", "-n", "2", "--no-wait").Exits(124).Err.String(),
		"no permit of "+line+" is free")
	programtest.Contains(t, lock(t, srv, "echo fifth", "-n", "3").Exits(78).Err.String(),
		"give that one, or replace it by --set-limit: the limit is 3 here", `"2" in the data of`)
	second.In.Close() // not the one that came first
	second.Exits(0)
	third.Exits(0).Prints("third")
	lock(t, srv, "echo fifth", "-n", "3", "--set-limit").Exits(0).Prints("fifth")
	programtest.Contains(t, lock(t, srv, "echo sixth", "-n", "2").Exits(78).Err.String(), "2 here",
		`"3" in the data of`)
	// no mutex
	programtest.Contains(t, lock(t, srv, "echo seventh", "-n", "1").Exits(78).Err.String(), "1 here",
		`"3" in the data of`)
	first.In.Close()
	first.Exits(0)
	inLine(t, srv, line+"/leases", 0)
	inLine(t, srv, line+"/locks", 0)
}

func TestLockKnowsHowManyPermitsThereCanBe(t *testing.T) {
	for want, flags := range map[string][]string{
		"at least 1":  {"-n", "0"},
		"give -n, to": {"--set-limit"},
	} {
		programtest.Contains(t, lock(t, nil, "true", flags...).Exits(64).Err.String(), want)
	}
}

// A list that names the creator needs an identity: the error says by which flags to give one.
func TestACreatorNeedsAnIdentity(t *testing.T) {
	err := start(t, zkmem.Start(t), "elect", "/x", "--acl", "creator", "--", "true").Exits(78).Err.String()
	programtest.Contains(t, err, "set --auth-file or --acl: /x/")
}
