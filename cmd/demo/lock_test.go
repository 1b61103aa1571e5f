//go:build unix

package main_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// lock runs a shell script under a lock.
func lock(t *testing.T, srv *zkmem.Server, script string, flags ...string) *program {
	t.Helper()
	args := append([]string{"lock", line}, flags...)
	return start(t, srv, append(args, "--", "sh", "-c", script)...)
}

func TestLockRunsTheCommandAndPassesItsExitCode(t *testing.T) {
	srv := zkmem.Start(t)
	log := filepath.Join(t.TempDir(), "lock.log")
	p := lock(t, srv, `echo "$INCUMBENT_TOKEN $INCUMBENT_PATH $INCUMBENT_NODE"; read line; echo "$line"; exit 7`, "--record", log)
	p.prints(line)
	node, _ := owner(t, srv, line)
	var token int64
	srv.View(func(v *zkmem.View) {
		_, stat, _ := v.Get(node)
		token = stat.Czxid
	})
	p.notes("holding " + line + " with token")
	fmt.Fprintln(p.in, "done")
	p.exits(7)
	if want := fmt.Sprintf("%d %s %s\ndone\n", token, line, node); p.out.String() != want {
		t.Errorf("printed %q, want %q", p.out.String(), want)
	}
	contains(t, p.err.String(), "held for ", "ended with 7")
	inLine(t, srv, line, 0)
	if n := len(srv.Sessions()); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	contains(t, start(t, nil, "replay", log).exits(0).out.String(), "the same: ")
}

func TestLockWaitsItsTurnOrNot(t *testing.T) {
	srv := zkmem.Start(t)
	first := lock(t, srv, "echo first; read line; exit 0", "--id", "one")
	first.prints("first")
	second := lock(t, srv, "echo second", "--id", "two")
	inLine(t, srv, line, 2)
	second.notes(`1 other in line, "one" holds`)
	contains(t, start(t, srv, "status", line).exits(0).out.String(), "2 in line", `"one" leads`, "lock ")

	srv.ResetCounts()
	third := lock(t, srv, "echo third", "--no-wait").exits(124)
	contains(t, third.err.String(), "somebody holds "+line)
	if n := srv.Counts().ByOp[zkmem.OpCreate]; n != 0 {
		t.Errorf("%d nodes were made by whoever does not wait", n)
	}
	fourth := lock(t, srv, "echo fourth", "--try", "1ms").exits(124)
	contains(t, fourth.err.String(), "not holding after 1ms")
	if third.out.String()+fourth.out.String()+second.out.String() != "" {
		t.Fatal("two run at a time")
	}
	inLine(t, srv, line, 2)
	first.in.Close()
	first.exits(0)
	second.exits(0).prints("second")
	lock(t, srv, "echo fifth", "--no-wait").exits(0).prints("fifth")
}

func TestALostLockEndsTheCommand(t *testing.T) {
	srv := zkmem.Start(t)
	p := lock(t, srv, stubborn, "--timeout", "4s")
	p.prints("token ")
	node, _ := owner(t, srv, line)
	if err := srv.Delete(node); err != nil {
		t.Fatal(err)
	}
	p.exits(75)
	contains(t, p.err.String(), "leadership lost: the own node is gone", "(--requeue queues again)", "killing process group", "ended with 137")
	inLine(t, srv, line, 0)
}

func TestALostLockIsTakenAgain(t *testing.T) {
	srv := zkmem.Start(t)
	p := lock(t, srv, `trap "exit 0" TERM; echo "token $INCUMBENT_TOKEN"; sleep 1000 & wait`, "--requeue")
	p.prints("token ")
	node, session := owner(t, srv, line)
	srv.ExpireSession(session)
	p.notes("queueing again in " + line)
	inLine(t, srv, line, 1)
	if again, _ := owner(t, srv, line); again == node {
		t.Errorf("the same node, %s", node)
	}
	p.signal(syscall.SIGTERM)
	p.wait()
	inLine(t, srv, line, 0)
}

// TestLockWithSeveralPermits runs two of three at a time, and refuses who takes
// the limit for another.
func TestLockWithSeveralPermits(t *testing.T) {
	srv := zkmem.Start(t)
	first := lock(t, srv, "echo first; read line; exit 0", "-n", "2", "--id", "one")
	first.prints("first")
	second := lock(t, srv, "echo second; read line; exit 0", "-n2", "--id", "two")
	second.prints("second")
	third := lock(t, srv, "echo third", "-n", "2", "--id", "three")
	third.notes(`all 2 are held, the oldest by "one"`)
	contains(t, start(t, srv, "status", line+"/leases").exits(0).out.String(), "2 permits held", `"one"`, `"two"`, "lease ")
	contains(t, lock(t, srv, "echo fourth", "-n", "2", "--no-wait").exits(124).err.String(), "no permit of "+line+" is free")
	contains(t, lock(t, srv, "echo fifth", "-n", "3").exits(78).err.String(), "3 here", `"2" in the data of`)
	second.in.Close() // not the one that came first
	second.exits(0)
	third.exits(0).prints("third")
	lock(t, srv, "echo fifth", "-n", "3", "--set-limit").exits(0).prints("fifth")
	contains(t, lock(t, srv, "echo sixth", "-n", "2").exits(78).err.String(), "2 here", `"3" in the data of`)
	contains(t, lock(t, srv, "echo seventh", "-n", "1").exits(78).err.String(), "1 here", `"3" in the data of`) // no mutex
	first.in.Close()
	first.exits(0)
	inLine(t, srv, line+"/leases", 0)
	inLine(t, srv, line+"/locks", 0)
}

func TestLockKnowsHowManyPermitsThereCanBe(t *testing.T) {
	for want, flags := range map[string][]string{
		"at least 1":  {"-n", "0"},
		"give -n, to": {"--set-limit"},
	} {
		contains(t, lock(t, nil, "true", flags...).exits(64).err.String(), want)
	}
}
