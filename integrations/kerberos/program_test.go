package kerberos

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runProgram runs the second build of the program, and returns what it printed and its exit code.
func runProgram(t *testing.T, binary string, k *kdc, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(within(t), binary, args...)
	cmd.Env = append(k.env, "KRB5CCNAME="+k.path("cache"))
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// The second build leads with a keytab and with tickets of kinit, and its command does not get those that it uses.
func (k *kdc) program(servers string) {
	t := k.t
	t.Helper()
	binary := filepath.Join(t.TempDir(), "incumbent")
	build := exec.CommandContext(within(t), "go", "build", "-o", binary, "./cmd/incumbent")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	alice := []string{"/program", "--servers", servers, "--tick", "200ms", "--principal", "alice"}
	run := func(command string, args ...string) (string, int) {
		return runProgram(t, binary, k, slices.Concat([]string{command}, alice, args)...)
	}
	if err := os.Chmod(k.path("client.keytab"), 0o644); err != nil {
		t.Fatal(err)
	}
	const echo = "echo token $INCUMBENT_TOKEN, cache $KRB5CCNAME."
	out, code := run("elect", "--keytab", k.path("client.keytab"), "--", "sh", "-c", echo)
	if code != 0 || !strings.Contains(out, "token ") || !strings.Contains(out, ", cache "+k.path("cache")+".") {
		t.Errorf("elect with a keytab: %d\n%s", code, out)
	}
	if !strings.Contains(out, "others may read ") {
		t.Errorf("elect with a keytab that others may read:\n%s", out)
	}
	k.kinit("alice")
	if out, code = run("elect", "--", "sh", "-c", echo); code != 0 || !strings.Contains(out, ", cache .") {
		t.Errorf("elect with a cache: %d\n%s", code, out)
	}
	if out, code = run("status", "--mutual"); code != 0 {
		t.Errorf("status: %d\n%s", code, out)
	}
	out, code = run("status", "--server-principal", "zookeeper/nowhere")
	if code != 77 || !strings.Contains(out, "does not know the server's principal") {
		t.Errorf("status, refused: %d\n%s", code, out)
	}
}
