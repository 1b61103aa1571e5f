package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A signal that was ignored at the start, as by nohup, ends neither elect nor its command.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			srv := zkmem.Start(t)
			cmd := exec.Command("sh", "-c", `trap "" `+name+`; exec "$0" "$@"`, programtest.Binary(),
				"elect", line, "--", "sh", "-c", `grep SigIgn /proc/self/status; read line; kill -`+name+` $$; exit 3`)
			p := programtest.StartCommand(t, cmd, []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + srv.Addr()})
			p.Prints("SigIgn:")
			p.Signal(signal)
			p.In.Close()
			p.Exits(3)
		})
	}
}

// Elect --requeue starts the next guard although its file was deleted.
func TestTheGuardIsThisProgramAfterAnUpgrade(t *testing.T) {
	srv := zkmem.Start(t)
	text, err := os.ReadFile(programtest.Binary())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "incumbent")
	if err := os.WriteFile(file, text, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, "elect", line, "--requeue", "--", "sh", "-c",
		`echo "token $INCUMBENT_TOKEN."; read line; exit 3`)
	p := programtest.StartCommand(t, cmd, []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + srv.Addr()})
	p.Prints("token ")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	first := p.Out.String()
	_, session := owner(t, srv, line)
	srv.ExpireSession(session)
	p.Notes("queueing again")
	p.PrintsMore(first, "token ")
	p.In.Close()
	p.Exits(3)
}

// --try 0s tries once: it waits behind nobody, and leads if nobody is in line.
func TestTryOnce(t *testing.T) {
	for name, args := range map[string][]string{
		"elect": {"elect", line}, "selector": {"elect", line, "--selector"}, "lock": {"lock", line},
		"plain election": {"elect", line, "--prefix", "n_"}, "plain election on a latch's names": {"elect", line,
			"--prefix", "latch-"},
		"plain lock":                   {"lock", line, "--prefix", ""},
		"plain lock on a lock's names": {"lock", line, "--prefix", "lock-"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := zkmem.Start(t)
			free := start(t, srv, append(args, "--try", "0s", "--", "echo", "it runs")...).Exits(0)
			free.Prints("it runs")
			first := start(t, srv, append(args, "--", "sh", "-c", "echo first; read line; exit 0")...)
			first.Prints("first")
			taken := start(t, srv, append(args, "--try", "0s", "--", "echo", "never")...).Exits(124)
			programtest.Contains(t, taken.Err.String(), "--try 0s")
			if taken.Out.String() != "" {
				t.Error("two run at a time")
			}
			first.In.Close()
			first.Exits(0)
		})
	}
}

// A line of the shell is no command: the error says how it is run.
func TestALineOfTheShellGetsAHint(t *testing.T) {
	p := start(t, zkmem.Start(t), "elect", line, "--", "echo a; echo b").Exits(127)
	programtest.Contains(t, p.Err.String(), `a line of the shell is run by: -- sh -c "echo a; echo b"`)
	if p := start(t, zkmem.Start(t), "elect", line, "--", "no-such-command").
		Exits(127); strings.Contains(p.Err.String(), "sh -c") {
		t.Errorf("a hint for no line of the shell: %s", p.Err.String())
	}
}
