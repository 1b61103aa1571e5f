package peer

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestACommandIsItsLine(t *testing.T) {
	for _, c := range []Command{{Do: Versions}, {Do: Go}, {Do: Clean}, {Prepare, Line, "mutex", "/bench-3", 100}} {
		if got, err := ParseCommand(c.String()); err != nil || got != c {
			t.Errorf("%q is read as %+v: %v", c, got, err)
		}
	}
	for _, wrong := range []string{"", "stop", "go now", "prepare", "prepare cycle mutex /p",
		"prepare cycle mutex /p x", "prepare cycle mutex /p 0", "prepare cycle mutex /p 1 2",
		"clean cycle mutex /p 1"} {
		if c, err := ParseCommand(wrong); err == nil {
			t.Errorf("%q is read as %+v", wrong, c)
		}
	}
}

// answersTo returns what a program answers to lines.
func answersTo(t *testing.T, prepare func(Command) (*Run, error), lines ...string) (all []Answer) {
	t.Helper()
	var out strings.Builder
	if err := Serve(strings.NewReader(strings.Join(lines, "\n")), &out, "fake 1", prepare); err != nil {
		t.Fatal(err)
	}
	for answers := bufio.NewScanner(strings.NewReader(out.String())); answers.Scan(); {
		var a Answer
		if err := json.Unmarshal(answers.Bytes(), &a); err != nil {
			t.Fatalf("%q: %v", answers.Text(), err)
		}
		all = append(all, a)
	}
	if len(all) != len(lines) {
		t.Fatalf("%d answers to %d lines: %+v", len(all), len(lines), all)
	}
	return all
}

func TestEveryLineHasOneAnswer(t *testing.T) {
	var kept []byte
	prepare := func(c Command) (*Run, error) {
		switch c.Recipe {
		case "none":
			return nil, &UnsupportedError{c.Scenario, c.Recipe}
		case "broken":
			return nil, errors.New("it broke")
		}
		return &Run{
			Go: func() (map[string][]int64, error) {
				kept = make([]byte, 1<<20)
				return map[string][]int64{Whole: {int64(c.N), int64(len(kept))}}, nil
			},
			Clean: func() error { return errors.New("dirt") },
		}, nil
	}
	got := answersTo(t, prepare, "versions", "go", "prepare cycle mutex /p 7", "prepare cycle mutex /p 8", "go",
		"clean", "clean", "prepare cycle none /p 1", "prepare cycle broken /p 1", "dance")
	if got[0].Versions != "fake 1" {
		t.Errorf("the versions are %+v", got[0])
	}
	if s := got[4].Samples[Whole]; len(s) != 2 || s[0] != 7 || got[4].Mallocs == 0 {
		t.Errorf("go is answered by %+v", got[4])
	}
	for i, want := range map[int]string{1: "go without prepare", 2: "", 3: "clean is missing", 4: "", 5: "dirt",
		6: "clean without prepare", 7: "", 8: "it broke", 9: "dance"} {
		if has := got[i].Error; (want == "") != (has == "") || !strings.Contains(has, want) {
			t.Errorf("answer %d is the error %q, want %q", i, has, want)
		}
	}
	if got[7].Unsupported == "" {
		t.Errorf("what is not supported is answered by %+v", got[7])
	}
}

func TestServeEndsWhenNobodyReads(t *testing.T) {
	in, out := io.Pipe()
	in.Close()
	if err := Serve(strings.NewReader("versions\nversions\n"), out, "fake", nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the error is %v", err)
	}
}
