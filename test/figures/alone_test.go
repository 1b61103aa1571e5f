package figures

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// aloneHere names the test that a process was started for.
const aloneHere = "INCUMBENT_FIGURES_ALONE"

// above is what figure says of a number that is too large.
const above = ", want at most "

// alone runs a test that measures the heap in a process of its own. The heap is that of the whole process: what earlier
// tests held until their goroutines ended, and the buffers of connections, are freed while it is measured. Since the
// second cannot be kept away, a figure above its bound begins again. What is above it in all of repeat's rounds is too
// large.
func alone(t *testing.T, measure func(*testing.T)) {
	t.Helper()
	if os.Getenv(aloneHere) == t.Name() {
		measure(t)
		return
	}
	repeat.Rounds(t, func(r *repeat.Round) {
		cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$", fmt.Sprint("-full=", *full))
		cmd.Env = append(os.Environ(), aloneHere+"="+t.Name())
		out, err := cmd.CombinedOutput()
		r.Logf("%s", out)
		if err == nil {
			return
		}
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, above) {
				r.Again("%s", strings.TrimSpace(line))
			}
		}
		r.Fatal(err)
	})
}
