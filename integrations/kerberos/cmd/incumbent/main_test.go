package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/cmd/incumbent/program"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run runs the program, and returns its exit code and what it printed.
func run(t *testing.T, args ...string) (int, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	code := program.Run(args, nil, out, out, login)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return code, string(text)
}

// The flags are those of every command that connects, and what is wrong with them is said before it connects.
func TestTheFlags(t *testing.T) {
	t.Setenv("KRB5_CONFIG", "testdata/none")
	t.Setenv("INCUMBENT_SASL_PASSWORD", "secret")
	for _, command := range []string{"status", "watch", "resign", "elect", "lock"} {
		if code, text := run(t, command, "--help"); code != 0 || !strings.Contains(text, "--keytab") {
			t.Errorf("%s --help: %d\n%s", command, code, text)
		}
	}
	if _, text := run(t, "elect", "--help"); !strings.Contains(text, "leave KRB5CCNAME, INCUMBENT_AUTH") {
		t.Errorf("the help of --pass-auth:\n%s", text)
	}
	conf := filepath.Join(t.TempDir(), "krb5.conf")
	text := "[libdefaults]\n default_realm = A.TEST\n[realms]\n A.TEST = {\n  kdc = 127.0.0.1:1\n }\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string][]string{
		"go with --principal":                 {conf, "--keytab", "none"},
		"the flags of Kerberos":               {conf, "--mutual"},
		"kerberos: the configuration testdat": {"testdata/none", "--principal", "alice"},
		"kerberos: the keytab none":           {conf, "--principal", "alice", "--keytab", "none"},
	} {
		t.Setenv("KRB5_CONFIG", c[0])
		code, text := run(t, append([]string{"status", "/x", "--servers", "127.0.0.1:1"}, c[1:]...)...)
		if code != 64 || !strings.Contains(text, want) {
			t.Errorf("%v: %d\n%s", c, code, text)
		}
	}
}
