package doctor_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/internal/doctor"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio"
)

// settings are those for some servers, with a bound for each answer that a busy machine keeps.
func settings(addresses ...string) doctor.Settings {
	return doctor.Settings{Servers: addresses, Timeout: 15 * time.Second, Step: repeat.Enough}
}

// examine examines, and checks that the findings are these and the release's known faults.
func examine(t *testing.T, s doctor.Settings, want ...string) doctor.Report {
	t.Helper()
	r := doctor.Examine(t.Context(), s)
	var got []string
	for _, f := range r.Findings {
		if f.ID != "known-fault" {
			got = append(got, fmt.Sprintf("%s %s %s", f.Severity, f.ID, f.Where))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q\n%s", got, want, strings.Join(r.Text(false), "\n"))
	}
	return r
}

// faults are the numbers of the known faults in a report.
func faults(r doctor.Report) (all []string) {
	for _, f := range r.Findings {
		if f.Fault != "" {
			all = append(all, f.Fault)
		}
	}
	return all
}

// as is the credential of a user, whose password is "pw".
func as(user string) []zkio.Auth { return []zkio.Auth{zkio.AuthOf("digest", []byte(user+":pw"))} }

// connect is an operator's connection to a server, who is ann, too.
func connect(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if err := conn.AddAuth("digest", []byte("ann:pw")); err != nil {
		t.Fatal(err)
	}
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// shim has the servers that start from now on, up to the end of the test, use the shim of testdata with these settings.
func shim(t *testing.T, settings map[string]string) {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil || runtime.GOOS != "linux" {
		realzk.NotRun(t, "a server with a clock and a disk of its own (gcc, on Linux)")
	}
	file := filepath.Join(t.TempDir(), "shim.so")
	out, err := exec.Command(compiler, "-shared", "-fPIC", "-o", file, "testdata/shim.c", "-ldl").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, value := range settings {
		t.Setenv(name, value)
	}
	t.Setenv("LD_PRELOAD", file)
}

// named replaces words in what is wanted.
func named(want []string, words ...string) (all []string) {
	for _, w := range want {
		all = append(all, strings.NewReplacer(words...).Replace(w))
	}
	return all
}
