package releases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// outcome is what a part gave on one release. It counts tests that are no part of another.
type outcome struct {
	release, part string
	passed        int      // and met a server of the release
	silent        int      // passed, or were not run, without such a server
	failed        []string // names
	took          time.Duration
	said          string // of an upgrade: what the clients did
}

// event is a line of go test -json.
type event struct{ Action, Test, Output string }

// saying begins the line of a test's output that the table has.
const saying = "says: "

// read takes the output of go test -json. It returns the text of tests that failed as well.
func (o *outcome) read(r io.Reader) (text string, err error) {
	met, outputs := map[string]bool{}, map[string]*strings.Builder{}
	for d := json.NewDecoder(r); ; {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			slices.Sort(o.failed)
			return text, nil
		} else if err != nil {
			return text, err
		}
		top, _, sub := strings.Cut(e.Test, "/")
		if outputs[top] == nil {
			outputs[top] = &strings.Builder{}
		}
		if e.Action == "output" {
			outputs[top].WriteString(e.Output)
			met[top] = met[top] || realzk.Met(e.Output) == o.release
			if _, said, found := strings.Cut(e.Output, saying); found {
				o.said = strings.TrimSpace(said)
			}
		}
		if sub {
			continue
		}
		switch {
		case e.Action == "fail":
			if top == "" {
				top = "the package"
			}
			if top != "the package" || len(o.failed) == 0 {
				o.failed = append(o.failed, top)
			}
			text += outputs[strings.TrimPrefix(top, "the package")].String()
		case e.Test == "":
		case e.Action == "pass" && met[top]:
			o.passed++
		case e.Action == "pass" || e.Action == "skip":
			o.silent++
		}
	}
}

// run runs a part on a release.
func run(p part, release string, bound time.Duration) (o outcome, text string, err error) {
	o = outcome{release: release, part: p.name}
	args := []string{"test", "-json", "-vet=off", "-count=1", "-timeout", bound.String()}
	if p.run != "" {
		args = append(args, "-run", p.run)
	}
	if tests := lacking(release, p.name); tests != "" {
		args = append(args, "-skip", tests)
	}
	args = append(args, "./"+p.folder)
	if p.args != nil {
		args = append(append(args, "-args"), p.args(release)...)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	// Without a level a package runs what it runs by hand: it starts servers, and takes the longest tests in part.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "INCUMBENT_") || strings.HasPrefix(v, "ZOOKEEPER_HOME=")
	})
	cmd.Env = append(cmd.Env, realzk.Variable+"="+release, "CGO_ENABLED=0")
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	begun := time.Now()
	failed := cmd.Run()
	o.took = time.Since(begun).Round(time.Second)
	text, err = o.read(&out)
	if err == nil && failed != nil && len(o.failed) == 0 {
		err = fmt.Errorf("%w\n%s", failed, problems.String())
	}
	return o, text, err
}

const root = "../../.."
