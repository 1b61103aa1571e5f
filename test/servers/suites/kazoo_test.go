//go:build unix

package suites

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/peers"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// version is the release that suites are given, zkmem.Release38: Debian has it.
const version = "3.8.0"

// kazoo is the suite of the chosen kazoo.
func kazoo(t *testing.T) suite {
	t.Helper()
	python, packages := findKazoo(t)
	dir := filepath.Join(packages, "kazoo", "tests")
	modules, err := filepath.Abs("testdata/python")
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, s servers, bound time.Duration, tests []string) results {
		t.Helper()
		report := filepath.Join(t.TempDir(), "report.xml")
		args := []string{python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "deadline", "--rootdir", dir,
			"--junitxml", report}
		for _, test := range tests {
			args = append(args, filepath.Join(dir, pytestID(test)))
		}
		if len(tests) == 0 {
			args = append(args, dir)
		}
		env := append(s.env, "PYTHONPATH="+modules+":"+packages, "PYTHONDONTWRITEBYTECODE=1",
			"ZOOKEEPER_VERSION="+version,
			fmt.Sprint("ZOOKEEPER_PORT_OFFSET=", ports(t)))
		said := run(t, bound, t.TempDir(), env, args...)
		text, err := os.ReadFile(report)
		if err != nil {
			t.Fatalf("pytest wrote no report: %v\n%s", err, said)
		}
		all, err := parseJUnit(text)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
}

// pytestID returns the argument for a test of the report: test_x.Class.test_y becomes test_x.py::Class::test_y.
func pytestID(test string) string {
	module, rest, _ := strings.Cut(test, ".")
	return module + ".py::" + strings.ReplaceAll(rest, ".", "::")
}

// findKazoo returns Debian's python, which has pytest and what kazoo's tests import, and the folder with the chosen
// kazoo, which is to stand before its own. kazoo is in Python alone, so any python reads it.
func findKazoo(t *testing.T) (python, packages string) {
	t.Helper()
	const where = "import kazoo.tests, os; print(os.path.dirname(os.path.dirname(kazoo.__file__)))"
	out, err := exec.Command(peers.FindKazoo(t), "-c", where).Output()
	packages = strings.TrimSpace(string(out))
	if err == nil {
		err = exec.Command(python3, "-c", "import pytest, gevent, eventlet, puresasl, jks, OpenSSL").Run()
	}
	if err != nil {
		realzk.NotRun(t, "kazoo's own tests (it, and Debian's python3-kazoo, -pytest, -pyjks and -openssl)")
	}
	return python3, packages
}

const python3 = "/usr/bin/python3"

// The ports from which a block for a harness of kazoo is taken: below those of zkmem.FreeAddr and above those of
// go-zookeeper's harness. It needs 30 of them, the last of a block says that it is taken.
const firstPort, portBlocks, portBlock = 16_384, 112, 32

// ports returns the first port of a block that is the test's until it ends.
func ports(t *testing.T) int {
	t.Helper()
	for i := range portBlocks {
		first := firstPort + (os.Getpid()+i)%portBlocks*portBlock // another process begins with another block
		taken, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", first+portBlock-1))
		if err != nil {
			continue
		}
		if allFree(first, portBlock-1) {
			t.Cleanup(func() { taken.Close() })
			return first
		}
		taken.Close()
	}
	t.Fatalf("no %d free ports from %d on", portBlock, firstPort)
	return 0
}

func allFree(first, n int) bool {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}
