//go:build unix

package main_test

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const line = "/jobs/x"

// elect runs a shell script under leadership.
func elect(t *testing.T, srv *zkmem.Server, script string, flags ...string) *programtest.Program {
	t.Helper()
	args := append([]string{"elect", line}, flags...)
	return start(t, srv, append(args, "--", "sh", "-c", script)...)
}

func TestElectRunsTheCommandAndPassesItsExitCode(t *testing.T) {
	for _, recipe := range []string{"latch", "selector"} {
		t.Run(recipe, func(t *testing.T) {
			srv := zkmem.Start(t)
			log := filepath.Join(t.TempDir(), "elect.log")
			flags := []string{"--record", log}
			if recipe == "selector" {
				flags = append(flags, "--selector")
			}
			p := elect(t, srv, `echo "$INCUMBENT_TOKEN $INCUMBENT_PATH $INCUMBENT_NODE"; read line; echo `+
				`"$line"; exit 7`, flags...)
			p.Prints(line)
			node, _ := owner(t, srv, line)
			var token int64
			srv.View(func(v *zkmem.View) {
				_, stat, _ := v.Get(node)
				token = stat.Czxid
			})
			fmt.Fprintln(p.In, "done")
			p.Exits(7)
			if want := fmt.Sprintf("%d %s %s\ndone\n", token, line, node); p.Out.String() != want {
				t.Errorf("printed %q, want %q", p.Out.String(), want)
			}
			inLine(t, srv, line, 0)
			if n := len(srv.Sessions()); n != 0 {
				t.Errorf("%d sessions are left", n)
			}
			programtest.Contains(t, start(t, nil, "replay", log).Exits(0).Out.String(), "the same: ")
		})
	}
}

func TestElectWaitsForItsTurn(t *testing.T) {
	srv := zkmem.Start(t)
	first := elect(t, srv, "echo first; read line", "--id", "one")
	first.Prints("first")
	second := elect(t, srv, "echo second", "--id", "two")
	inLine(t, srv, line, 2)
	second.Notes(`1 other in line, "one" is first in line with token `)
	if second.Out.String() != "" {
		t.Fatal("two run at a time")
	}
	first.In.Close()
	first.Exits(1) // read's own, at the end of its input
	second.Exits(0).Prints("second")
}

// stubborn ignores SIGTERM, and so does what it starts.
const stubborn = `trap "" TERM; sleep 1000 & echo "token $INCUMBENT_TOKEN"; wait; sleep 1000`

func TestLossKillsTheWholeGroup(t *testing.T) {
	for name, lose := range map[string]func(*testing.T, *zkmem.Server){
		"session expired": func(t *testing.T, srv *zkmem.Server) {
			_, session := owner(t, srv, line)
			srv.ExpireSession(session)
		},
		"node deleted": func(t *testing.T, srv *zkmem.Server) {
			node, _ := owner(t, srv, line)
			if err := srv.Delete(node); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := zkmem.Start(t)
			// A short timeout: after a cut connection the group may live until another may lead.
			p := elect(t, srv, stubborn, "--timeout", "4s")
			p.Prints("token ")
			lose(t, srv)
			p.Exits(75)
			programtest.Contains(t, p.Err.String(), "leadership of "+line+" (token ", ") lost: ",
				"(--requeue queues again)", "killing process group", "ended with 137")
			inLine(t, srv, line, 0)
		})
	}
}

// A command that ignores SIGTERM after a cut is killed when its node is found to be gone, however long its session
// would have lived.
func TestTheEndOfTheNodeEndsTheTimeToEnd(t *testing.T) {
	for name, lose := range map[string]func(p *programtest.Program, srv *zkmem.Server, node string, session int64){
		"session expired": func(_ *programtest.Program, srv *zkmem.Server, _ string, session int64) {
			srv.ExpireSession(session)
			srv.RefuseConnections(false)
		},
		"session expired, and no server answers": func(p *programtest.Program, srv *zkmem.Server, _ string,
			session int64) {
			srv.ExpireSession(session)
			srv.RefuseConnections(false)
			p.Notes("session is lost")
			srv.Stop()
		},
		"node deleted": func(_ *programtest.Program, srv *zkmem.Server, node string, _ int64) {
			if err := srv.Delete(node); err != nil {
				t.Error(err)
			}
			srv.RefuseConnections(false)
		},
	} {
		for _, command := range []string{"elect", "lock"} {
			t.Run(command+" "+name, func(t *testing.T) {
				t.Parallel()
				srv := zkmem.Start(t, zkmem.Options{MaxSessionTimeout: time.Hour})
				p := start(t, srv, command, line, "--timeout", "1h", "--stop-timeout", "0s", "--", "sh", "-c", stubborn)
				p.Prints("token ")
				node, session := owner(t, srv, line)
				srv.RefuseConnections(true)
				srv.Disconnect(session)
				p.Notes("gets SIGTERM, and SIGKILL after ")
				lose(p, srv, node, session)
				p.Exits(75)
				programtest.Contains(t, p.Err.String(), "killing process group", "ended with 137")
			})
		}
	}
}

// While the own node is still there after a cut, a command that ignores SIGTERM keeps its time to end.
func TestANodeThatIsThereLeavesTheTimeToEnd(t *testing.T) {
	for _, command := range []string{"elect", "lock"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			srv := zkmem.Start(t, zkmem.Options{MaxSessionTimeout: time.Hour})
			p := start(t, srv, command, line, "--timeout", "1h", "--stop-timeout", "0s", "--", "sh", "-c",
				`trap "" TERM; echo "token $INCUMBENT_TOKEN"; read line; exit 3`)
			p.Prints("token ")
			node, session := owner(t, srv, line)
			looks := atomic.Int32{}
			srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
				// After each answer but the last the program could have killed the command.
				if r.Op == zkmem.OpExists && r.Path == node && looks.Add(1) == 4 {
					p.In.Close()
				}
				return zkmem.Verdict{}
			})
			srv.Disconnect(session)
			p.Exits(75)
			programtest.Contains(t, p.Err.String(), "the command ended with 3")
		})
	}
}

func TestLossLetsTheCommandEndInGoodOrder(t *testing.T) {
	srv := zkmem.Start(t)
	p := elect(t, srv, `trap "echo told; exit 0" TERM; echo up; sleep 1000 & wait`, "--timeout", "40s")
	p.Prints("up")
	_, session := owner(t, srv, line)
	srv.Disconnect(session)
	p.Exits(75)
	programtest.Contains(t, p.Out.String(), "told")
	programtest.Contains(t, p.Err.String(),
		"the connection ended, perhaps with the session; the command gets SIGTERM, and SIGKILL after ")
}

func TestRequeueLeadsAgain(t *testing.T) {
	for _, flag := range []string{"--selector=false", "--selector"} {
		t.Run(flag, func(t *testing.T) {
			srv := zkmem.Start(t)
			p := elect(t, srv, `trap "exit 9" TERM; echo "token $INCUMBENT_TOKEN."; sleep 1000 & wait`,
				"--requeue", flag)
			p.Prints("token ")
			node, _ := owner(t, srv, line)
			if err := srv.Delete(node); err != nil {
				t.Fatal(err)
			}
			p.Notes("queueing again")
			if err := srv.WaitFor(within(t), func(v *zkmem.View) bool {
				return len(v.Children(line)) == 1 && !v.Exists(node)
			}); err != nil {
				t.Fatal(err)
			}
			again, _ := owner(t, srv, line)
			var token int64
			srv.View(func(v *zkmem.View) {
				_, stat, _ := v.Get(again)
				token = stat.Czxid
			})
			p.Prints(fmt.Sprintf("token %d.", token))
			p.Signal(syscall.SIGTERM)
			if code := p.Wait(); code != 9 && code != 143 { // the shell may be told before it has set its trap
				t.Errorf("exits with %d\n%s", code, p.Said())
			}
			inLine(t, srv, line, 0)
		})
	}
}

func TestSignalsWhileWaitingLeaveTheQueue(t *testing.T) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // under nohup it is ignored, and what is started would ignore it as well
	defer signal.Stop(hangups)
	for sent, code := range map[os.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGHUP: 129} {
		t.Run(sent.String(), func(t *testing.T) {
			srv := zkmem.Start(t)
			participant(t, srv, line, "holder")
			p := elect(t, srv, "echo never")
			inLine(t, srv, line, 2)
			p.Signal(sent)
			p.Exits(code)
			inLine(t, srv, line, 1)
			if n := len(srv.Sessions()); n != 1 {
				t.Errorf("%d sessions, want the holder's only", n)
			}
			if p.Out.String() != "" {
				t.Errorf("the command ran: %q", p.Out.String())
			}
		})
	}
}

func TestSignalsWhileLeadingGoToTheGroup(t *testing.T) {
	srv := zkmem.Start(t)
	p := elect(t, srv, `trap "echo interrupted" INT; trap "echo told; read line; exit 5" TERM; echo up; while :; do `+
		`sleep 1000 & wait; done`)
	p.Prints("up")
	p.Signal(syscall.SIGINT)
	p.Prints("interrupted")
	p.Signal(syscall.SIGTERM)
	p.Prints("told")
	if n := func() (n int) { srv.View(func(v *zkmem.View) { n = len(v.Children(line)) }); return }(); n != 1 {
		t.Errorf("%d in line while the command still ends", n)
	}
	p.In.Close()
	p.Exits(5)
	inLine(t, srv, line, 0)
}

func TestTryGivesUp(t *testing.T) {
	srv := zkmem.Start(t)
	participant(t, srv, line, "holder")
	p := elect(t, srv, "echo never", "--try", "50ms").Exits(124)
	programtest.Contains(t, p.Err.String(), "not leading after 50ms (--try)")
	inLine(t, srv, line, 1)
}

func TestCommandsThatCannotBeStarted(t *testing.T) {
	srv := zkmem.Start(t)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, code := range map[string]int{"no-such-command-here": 127, "/no/such/command": 127, plain: 126} {
		p := start(t, srv, "elect", line, "--", command).Exits(code)
		programtest.Contains(t, p.Err.String(), "cannot be started")
		inLine(t, srv, line, 0)
	}
}

func TestAPersistentNodeIsSaid(t *testing.T) {
	srv := zkmem.Start(t)
	for _, path := range []string{"/jobs", line, line + "/_c_00000000-0000-4000-8000-000000000000-latch-0000000000"} {
		if _, err := srv.Create(path, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := srv.Create(line+"/gap-", nil, zkmem.PersistentSequential); err != nil {
		t.Fatal(err)
	}
	p := elect(t, srv, "echo never").Exits(78)
	programtest.Contains(t, p.Err.String(), "persistent node is in the way; delete it")
}

// wakes has an elect go on that was stopped, and whose session is over: it tells
// how long it led, and not how long it was stopped.
func wakes(t *testing.T, srv *zkmem.Server, p *programtest.Program, started, up time.Time) {
	t.Helper()
	inLine(t, srv, line, 0)
	over := time.Now()
	// From leading to here has to be longer than from started to over, as it is printed.
	<-time.After(up.Sub(started) + 50*time.Millisecond) // pause: how long it is stopped
	p.Signal(syscall.SIGCONT)
	p.Exits(75)
	led := regexp.MustCompile(`led for (\S+); the command ended with 137`).FindStringSubmatch(p.Err.String())
	if led == nil {
		t.Fatal(p.Said())
	}
	if d, err := time.ParseDuration(led[1]); err != nil || d > over.Sub(started) {
		t.Errorf("led for %v (%v), but its session was over after %v\n%s", d, err, over.Sub(started), p.Said())
	}
}

// The guard ends the command when elect cannot: because it was killed, or is
// stopped past the end of its leadership.
func TestTheGuard(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		t.Run(signal.String(), func(t *testing.T) {
			srv := zkmem.Start(t, zkmem.Options{Tick: 300e6})
			fifo := filepath.Join(t.TempDir(), "held")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			started := time.Now()
			p := elect(t, srv, `exec 3>"`+fifo+`"; echo up; sleep 1000 & wait`, "--timeout", "6s", "--tick", "300ms")
			held := make(chan string, 1)
			go func() { // reads until nobody holds the other end
				b, err := os.ReadFile(fifo)
				held <- fmt.Sprint(string(b), err)
			}()
			p.Prints("up")
			up := time.Now()
			p.Signal(signal)
			select {
			case got := <-held:
				if got != "<nil>" {
					t.Errorf("reading gave %q", got)
				}
			case <-within(t).Done():
				t.Fatalf("the command runs on\n%s", p.Said())
			}
			p.Notes("guard: killing process group")
			if signal == syscall.SIGSTOP {
				wakes(t, srv, p, started, up)
			}
		})
	}
}
