package peer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"
)

// fakeProgram as a variable of the environment makes the test binary a program: its value is what it does.
const fakeProgram = "BENCH_FAKE_PROGRAM"

func TestMain(m *testing.M) {
	if how := os.Getenv(fakeProgram); how != "" {
		behave(how)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func behave(how string) {
	switch how {
	case "serve":
		w := &world{lines: map[string][]*place{}, most: map[string]int{}}
		os.Args = []string{"fake", "zk1:1,zk2:2", "4000"}
		Main("fake 1", func(servers []string, timeout time.Duration) (Session, error) {
			if len(servers) != 2 || servers[1] != "zk2:2" || timeout != 4*time.Second {
				return nil, fmt.Errorf("servers %q, timeout %v", servers, timeout)
			}
			return w.session()
		})
	case "die":
		fmt.Scanln(new(string))
		fmt.Fprintln(os.Stderr, strings.Repeat("noise\n", 2000)+"out of memory")
		os.Exit(3)
	case "babble":
		fmt.Println("ready")
		fmt.Scanln(new(string))
	case "hang":
		signalled := make(chan os.Signal, 1)
		signal.Notify(signalled, os.Interrupt)
		<-signalled // the runtime ends a program whose goroutines all wait for each other
	}
}

func start(t *testing.T, how string) *Process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fakeProgram+"="+how, "GORACE=atexit_sleep_ms=0") // else it ends a second later
	p, err := Start(how, cmd)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const long = time.Minute // bounds a test that hangs

func TestAProgramIsAsked(t *testing.T) {
	p := start(t, "serve")
	do := func(c Command) (Answer, error) { return p.Do(c, long) }
	if a, err := do(Command{Do: Versions}); err != nil || !strings.HasPrefix(a.Versions, "fake 1, go") {
		t.Errorf("the versions are %+v, %v", a, err)
	}
	var unsupported *UnsupportedError
	if _, err := do(Command{Prepare, Cycle, "none", "/p", 3}); !errors.As(err, &unsupported) ||
		unsupported.Recipe != "none" {
		t.Errorf("what is not supported: %v", err)
	}
	if _, err := do(Command{Do: Go}); err == nil || !strings.Contains(err.Error(), "go without prepare") {
		t.Errorf("an error of the program: %v", err)
	}
	for range 2 {
		if _, err := do(Command{Prepare, Cycle, "mutex", "/p", 3}); err != nil {
			t.Fatal(err)
		}
		if a, err := do(Command{Do: Go}); err != nil || len(a.Samples[Whole]) != 3 || a.Mallocs == 0 {
			t.Errorf("go is answered by %+v, %v", a, err)
		}
		if _, err := do(Command{Do: Clean}); err != nil {
			t.Error(err)
		}
	}
	if p.PID() == os.Getpid() || p.PID() <= 0 {
		t.Errorf("the program is process %d", p.PID())
	}
	if err := p.Quit(long); err != nil {
		t.Error(err)
	}
}

// The error says what the program wrote last.
func TestAProgramThatEndsIsAnError(t *testing.T) {
	p := start(t, "die")
	_, err := p.Do(Command{Do: Versions}, long)
	if err == nil || !strings.Contains(err.Error(), "die ended during") {
		t.Errorf("the error is %v", err)
	}
	err = p.Quit(long)
	if err == nil || !strings.HasSuffix(err.Error(), "out of memory") || len(err.Error()) > 2*maxTail {
		t.Errorf("the error is %.200v", err)
	}
}

func TestAnAnswerHasToBeOne(t *testing.T) {
	p := start(t, "babble")
	if _, err := p.Do(Command{Do: Versions}, long); err == nil ||
		!strings.Contains(err.Error(), `"ready", which is no answer`) {
		t.Errorf("the error is %v", err)
	}
	if err := p.Quit(long); err != nil {
		t.Error(err)
	}
}

func TestAProgramThatHangsIsKilled(t *testing.T) {
	p := start(t, "hang")
	if _, err := p.Do(Command{Do: Versions}, time.Millisecond); err == nil ||
		!strings.Contains(err.Error(), "did not answer") {
		t.Errorf("the error is %v", err)
	}
	if err := p.Quit(time.Millisecond); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the error is %v", err)
	}
}
