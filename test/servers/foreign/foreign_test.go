package foreign

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// enough bounds an example that hangs.
const enough = repeat.Enough

// program builds incumbent and returns its path.
func program(t *testing.T) string {
	t.Helper()
	if !selection.StartsServers(t) {
		realzk.NotRun(t, "examples in other languages (make prove starts them)")
	}
	file := filepath.Join(t.TempDir(), "incumbent")
	run(t, "", nil, "go", "build", "-o", file, "../../../cmd/incumbent")
	return file
}

// run runs a command to its end and returns what it printed.
func run(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, said)
	}
	return string(said)
}

func TestPython(t *testing.T) {
	python := ""
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(name, "-c", "import kazoo, pytest").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		realzk.NotRun(t, "the example in Python (no kazoo, or no pytest)")
	}
	said := run(t, "python", []string{"INCUMBENT=" + program(t), "PYTHONDONTWRITEBYTECODE=1"}, python, "-m", "pytest",
		"-q", "-p", "no:cacheprovider")
	if !strings.Contains(said, "6 passed") {
		t.Error(said)
	}
}

func TestJava(t *testing.T) {
	const jars = "/usr/share/java/"
	for _, needed := range []string{jars + "zookeeper.jar", jars + "junit4.jar"} {
		if _, err := os.Stat(needed); err != nil {
			realzk.NotRun(t, "the example in Java (no "+needed+")")
		}
	}
	if _, err := exec.LookPath("javac"); err != nil {
		realzk.NotRun(t, "the example in Java (no javac)")
	}
	classes := t.TempDir()
	path := strings.Join([]string{classes, jars + "zookeeper.jar", jars + "junit4.jar", jars + "slf4j-nop.jar",
		jars + "netty-resolver.jar"}, ":")
	incumbent := program(t)
	run(t, "java", nil, "javac", "-d", classes, "-cp", path, "Server.java", "LeaseTest.java")
	said := run(t, "java", []string{"INCUMBENT=" + incumbent}, "java", "-cp", path,
		"org.junit.runner.JUnitCore", "LeaseTest")
	if !strings.Contains(said, "OK (3 tests)") {
		t.Error(said)
	}
}

// make deps puts the client, which is all JavaScript, into .cache/node.
func TestNode(t *testing.T) {
	modules, err := filepath.Abs("../../../.cache/node/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		realzk.NotRun(t, "the example in JavaScript (no node)")
	}
	if _, err := os.Stat(filepath.Join(modules, "node-zookeeper-client")); err != nil {
		realzk.NotRun(t, "the example in JavaScript (no node-zookeeper-client in .cache/node)")
	}
	said := run(t, "node", []string{"INCUMBENT=" + program(t), "NODE_PATH=" + modules}, "node", "--test",
		"lease.test.js")
	if !strings.Contains(said, "# pass 2") && !strings.Contains(said, "pass 2\n") {
		t.Error(said)
	}
}
