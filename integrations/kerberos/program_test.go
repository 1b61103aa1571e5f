package kerberos

import (
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

// The second build leads with a keytab and with tickets of kinit, and its command does not get them.
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
	out, code := run("elect", "--keytab", k.path("client.keytab"), "--", "sh", "-c",
		"echo token $INCUMBENT_TOKEN, cache $KRB5CCNAME.")
	if code != 0 || !strings.Contains(out, "token ") || !strings.Contains(out, ", cache .") {
		t.Errorf("elect: %d\n%s", code, out)
	}
	k.kinit("alice")
	if out, code = run("status", "--mutual"); code != 0 {
		t.Errorf("status: %d\n%s", code, out)
	}
	out, code = run("status", "--server-principal", "zookeeper/nowhere")
	if code != 77 || !strings.Contains(out, "does not know the server's principal") {
		t.Errorf("status, refused: %d\n%s", code, out)
	}
}
