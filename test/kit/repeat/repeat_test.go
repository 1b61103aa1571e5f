package repeat

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestASeedIsFixedUnlessAnotherIsGiven(t *testing.T) {
	for given, want := range map[string]uint64{"": 7, "0": 0, "18446744073709551615": 1<<64 - 1} {
		if got, err := seedOf(given, 7); got != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", given, got, err, want)
		}
	}
	for _, wrong := range []string{"x", "-1", "1.5", "18446744073709551616"} {
		if got, err := seedOf(wrong, 7); err == nil {
			t.Errorf("%q: %d, want an error", wrong, got)
		}
	}
}

func TestAMeterAddsWhatWasLate(t *testing.T) {
	begun := time.Unix(100, 0)
	m := &Meter{last: begun}
	at := begun
	for _, gap := range []time.Duration{step, step + least - 1, step + 300*time.Millisecond, step, step + least} {
		at = at.Add(gap)
		m.ran(at)
	}
	if m.longest != 300*time.Millisecond || m.total != 300*time.Millisecond+least {
		t.Errorf("longest %s, total %s", m.longest, m.total)
	}
}

// A round that says so begins again, and what is a failure stays one. The rounds are played by a process of their own,
// whose tests may fail.
func TestRounds(t *testing.T) {
	if played := os.Getenv(script); played != "" {
		play(t, played)
		return
	}
	for played, want := range map[string]struct {
		fails    bool
		says     []string
		saysNot  string
		attempts int
	}{
		"sound": {false, nil, Prefix, 1},
		"again twice": {false,
			[]string{Prefix + "TestRounds round 2: no luck; 1 in all",
				Prefix + "TestRounds round 3: no luck; 2 in all"}, "round 4", 3},
		"again always":     {true, []string{"all of 6 rounds had to begin again, this one: no luck"}, "round 7", 6},
		"wrong":            {true, []string{"two leaders"}, Prefix, 1},
		"wrong, and again": {true, []string{"two leaders"}, Prefix, 1},
		"paused": {false,
			[]string{Prefix + "TestRounds round 2: this process did not run for 2s: lost"}, "round 3", 2},
		"not paused": {true, []string{"lost"}, Prefix, 1},
		"panics":     {true, []string{"panic: a bug"}, Prefix, 1},
	} {
		t.Run(played, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestRounds$", "-test.v")
			cmd.Env = append(os.Environ(), script+"="+played)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) || (err != nil) != want.fails {
				t.Fatalf("%v, want a failure: %t\n%s", err, want.fails, out)
			}
			for _, line := range want.says {
				if !strings.Contains(string(out), line) {
					t.Errorf("it does not say %q:\n%s", line, out)
				}
			}
			if strings.Contains(string(out), want.saysNot) {
				t.Errorf("it says %q:\n%s", want.saysNot, out)
			}
			if n := strings.Count(string(out), "=== RUN   TestRounds/round_"); n != want.attempts {
				t.Errorf("%d rounds, want %d:\n%s", n, want.attempts, out)
			}
		})
	}
}

const script = "INCUMBENT_TEST_ROUNDS"

func play(t *testing.T, script string) {
	n, live := 0, 0
	Rounds(t, func(r *Round) {
		if n++; live != 0 {
			t.Error("the round before was not cleaned up")
		}
		live++
		r.Cleanup(func() { live-- })
		switch script {
		case "again twice":
			if n <= 2 {
				r.Again("no luck")
			}
		case "again always":
			r.Again("no luck")
		case "wrong":
			r.Fatal("two leaders")
		case "wrong, and again":
			r.Error("two leaders")
			r.Again("no luck")
		case "paused":
			if n == 1 {
				r.meter.ran(time.Now().Add(2*time.Second + step))
				r.Spoilt(time.Second, "lost")
			}
		case "not paused":
			r.Spoilt(time.Hour, "lost")
		case "panics":
			panic("a bug")
		}
	})
}
