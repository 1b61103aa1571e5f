package wallclock

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// role, in the environment, turns the test binary into the tracer or into the program that it runs.
const role = "INCUMBENT_WALLCLOCK_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "tracer":
		if err := os.Setenv(role, "clock"); err != nil {
			os.Exit(1)
		}
		code, err := Run(os.Args[:1], os.NewFile(3, "offsets"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	case "clock":
		printClocks()
		os.Exit(7)
	}
	goleak.VerifyTestMain(m)
}

// printClocks prints, for each line of its input, the wall clock and Go's monotonic clock, as a thread of its own reads
// them.
func printClocks() {
	began := time.Now()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		read := make(chan string)
		go func() {
			runtime.LockOSThread() // and not unlocked: the thread ends
			now := time.Now()
			read <- fmt.Sprint(now.UnixNano(), " ", int64(now.Sub(began)))
		}()
		fmt.Println(<-read)
	}
}

// program is the clock under the tracer.
type program struct {
	t       *testing.T
	cmd     *exec.Cmd
	ask     *os.File
	answers *bufio.Scanner
	offsets *os.File
}

func start(t *testing.T) *program {
	t.Helper()
	if !Supported {
		realzk.NotRun(t, "a wall clock that is set (needs Linux on amd64)")
	}
	exe, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, cmd: exec.Command(exe)}
	in, ask, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read, offsets, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.ask, p.offsets = ask, offsets
	p.cmd.Env = append(os.Environ(), role+"=tracer")
	p.cmd.Stdin, p.cmd.Stderr, p.cmd.ExtraFiles = in, os.Stderr, []*os.File{read}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.answers = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // and the program with it
		_ = p.cmd.Wait()
		for _, f := range []*os.File{in, ask, read, offsets} {
			_ = f.Close()
		}
	})
	return p
}

// set sets the offset.
func (p *program) set(by string) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.offsets, by); err != nil {
		p.t.Fatal(err)
	}
}

// clocks returns by how much the program's wall clock is ahead of this one's, and its monotonic clock.
func (p *program) clocks() (ahead, ran time.Duration) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.ask); err != nil {
		p.t.Fatal(err)
	}
	if !p.answers.Scan() {
		p.t.Fatal("the program has ended: ", p.answers.Err())
	}
	wall, mono, _ := strings.Cut(p.answers.Text(), " ")
	at, err := strconv.ParseInt(wall, 10, 64)
	since, err2 := strconv.ParseInt(mono, 10, 64)
	if err != nil || err2 != nil {
		p.t.Fatalf("%q: %v %v", p.answers.Text(), err, err2)
	}
	return time.Until(time.Unix(0, at)), time.Duration(since)
}

// becomes waits until the wall clock is ahead by an offset. Half an hour more or less is no matter of speed.
func (p *program) becomes(want time.Duration) {
	p.t.Helper()
	const close = 30 * time.Minute
	for range 50_000 { // each is a question and an answer
		ahead, ran := p.clocks()
		if ran < 0 || ran > close {
			p.t.Fatalf("the monotonic clock shows %v: it was set, too", ran)
		}
		if ahead > want-close && ahead < want+close {
			return
		}
	}
	p.t.Fatalf("the wall clock is not set to be %v ahead", want)
}

// TestTheWallClockIsSet sets the wall clock of a program, forward, back and to what it is, and no other clock.
func TestTheWallClockIsSet(t *testing.T) {
	p := start(t)
	p.becomes(0)
	for _, by := range []time.Duration{time.Hour, -2 * time.Hour, 0} {
		p.set(by.String())
		p.becomes(by)
	}
	p.set("soon") // an error says so, and it is passed over
	p.set("3h")
	p.becomes(3 * time.Hour)
	if err := p.ask.Close(); err != nil {
		t.Fatal(err)
	}
	p.answers.Scan()
	if err := p.cmd.Wait(); err == nil || p.cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("the exit code is %d (%v), want that of the program: 7", p.cmd.ProcessState.ExitCode(), err)
	}
}

// TestRunRefuses asks for a program that is not there.
func TestRunRefuses(t *testing.T) {
	if _, err := Run([]string{filepath.Join(t.TempDir(), "missing")}, strings.NewReader("")); err == nil {
		t.Error("it runs")
	}
}
