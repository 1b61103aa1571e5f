//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// demanding returns a server that serves only users who have logged in.
func demanding(t *testing.T) *zkmem.Server {
	t.Helper()
	return zkmem.Start(t, zkmem.Options{EnforceAuth: []string{"sasl"},
		SASLUsers: map[string]string{"bob": "hunter2", "jörg": "größer"}})
}

func passwordFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return file
}

// Every command logs in, with a password of a file or of the environment. The command that elect runs does not get it,
// and what is created is the user's.
func TestCommandsLogIn(t *testing.T) {
	srv := demanding(t)
	file := passwordFile(t, "größer\n", 0o644)
	p := elect(t, srv, "env; echo up; read line", "--sasl", "digest:jörg", "--sasl-password-file", file, "--id", "jay")
	p.Prints("up")
	p.Notes("others may read")
	acl, _, err := srv.Snapshot().ACL(line)
	if err != nil || len(acl) != 1 || acl[0] != (zkmem.ACL{Perms: zkmem.PermAll, Scheme: "sasl", ID: "jörg"}) {
		t.Errorf("the line has %v, %v", acl, err)
	}
	env := []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + srv.Addr(), "INCUMBENT_SASL_PASSWORD=größer"}
	status := programtest.Start(t, env, "status", line, "--sasl", "digest:jörg").Exits(0)
	programtest.Contains(t, status.Out.String(), `"jay" is first in line`)
	env[2] = "INCUMBENT_SASL_PASSWORD=hunter2"
	refused := programtest.Start(t, env, "status", line, "--sasl", "digest:bob").Exits(77)
	programtest.Contains(t, refused.Err.String(), "not authorised")
	p.In.Close()
	p.Exits(1)
	for _, said := range []string{p.Said(), status.Said(), refused.Said()} {
		if strings.Contains(said, "größer") || strings.Contains(said, "hunter2") ||
			strings.Contains(said, "what is created is open") {
			t.Errorf("a password is shown, or a warning that is wrong:\n%s", said)
		}
	}
}

// A refused login ends every command with 77, in one line with the server's reason. So does a missing one, which names
// the flag.
func TestARefusedLoginEndsEveryCommand(t *testing.T) {
	srv := demanding(t)
	for _, args := range everyCommand("--connect-timeout", "1h", "--sasl", "digest:bob", "--sasl-password-file",
		passwordFile(t, "wrong-hunter2", 0o600)) {
		t.Run(args[0], func(t *testing.T) {
			p := start(t, srv, args...).Exits(77)
			programtest.Contains(t, p.Err.String(), "the credentials are not accepted",
				"the SASL login by DIGEST-MD5 (bob) was refused by the server (SESSIONCLOSEDREQUIRESASLAUTH)")
			if strings.Contains(p.Said(), "hunter2") || strings.Count(p.Err.String(), "\n") != 1 {
				t.Errorf("want one line, without the password:\n%s", p.Said())
			}
		})
	}
	for where, servers := range map[string]string{"": srv.Addr(), " below a chroot": srv.Addr() + "/app"} {
		for _, args := range everyCommand("--servers", servers) {
			t.Run(args[0]+" without a login"+where, func(t *testing.T) {
				programtest.Contains(t, start(t, srv, args...).Exits(77).Err.String(),
					"log in by a mechanism that they take, with --sasl (--auth-file, if")
			})
		}
	}
}

// What cannot be right is said in one line, and nothing that may be a password is repeated.
func TestSASLFlagsThatCannotBeRight(t *testing.T) {
	long := passwordFile(t, strings.Repeat("hunter2", 10_000), 0o600)
	two, empty := passwordFile(t, "hunter2\nhunter2\n", 0o600), passwordFile(t, "\n", 0o600)
	invalid := passwordFile(t, "hunter2\xff\n", 0o600)
	for _, c := range []struct{ flags, says string }{
		{"--sasl bob", "--sasl is written digest:USER"},
		{"--sasl digest:", "--sasl is written digest:USER"},
		{"--sasl digest:bob:hunter2", "USER has no colon"},
		{"--sasl plain:bob", "--sasl is written digest:USER"},
		{"--sasl digest:bob", "give --sasl-password-file, or set INCUMBENT_SASL_PASSWORD"},
		{"--sasl-password-file /dev/null", "give --sasl digest:USER, too"},
		{"--sasl digest:bob --sasl-password-file /nope", "--sasl-password-file: open /nope: no such file"},
		{"--sasl digest:bob --sasl-password-file " + empty, "is empty"},
		{"--sasl digest:bob --sasl-password-file " + two, "as its one line"},
		{"--sasl digest:bob --sasl-password-file " + long, "as its one line"},
		{"--sasl digest:bob --sasl-password-file " + invalid, "user and password of DIGEST-MD5 are written in UTF-8"},
	} {
		t.Run(c.flags, func(t *testing.T) {
			p := start(t, nil, append([]string{"status", line}, strings.Split(c.flags, " ")...)...).Exits(64)
			programtest.Contains(t, p.Err.String(), c.says)
			said := p.Said()
			if strings.Contains(said, "hunter2") || strings.Count(p.Err.String(), "\n") != 1 || p.Out.String() != "" {
				t.Errorf("want one line, without a password:\n%s", p.Said())
			}
		})
	}
}

// The server in memory takes users with their passwords in files, and refuses others.
func TestZkHasUsers(t *testing.T) {
	bob, ann := passwordFile(t, "größer\n", 0o600), passwordFile(t, "=ann's", 0o644)
	zk := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--json", "--enforce-auth", "sasl", "--sasl-user", "bob="+bob,
		"--sasl-user", "jörg="+ann)
	zk.Prints("\n")
	zk.Notes("others may read")
	env := []string{"INCUMBENT_SERVERS=" + zk.Objects()[0]["address"].(string)}
	for user, file := range map[string]string{"bob": bob, "jörg": ann} {
		programtest.Start(t, env, "status", line, "--sasl", "digest:"+user, "--sasl-password-file", file).Exits(0)
	}
	p := programtest.Start(t, env, "status", line, "--sasl", "digest:bob", "--sasl-password-file", ann).Exits(77)
	programtest.Contains(t, p.Err.String(), "was refused by the server")
	zk.Signal(syscall.SIGTERM)
	zk.Exits(0)
}

// What cannot be a user is said in one line, and nothing that may be a password is repeated.
func TestZkRefusesUsers(t *testing.T) {
	file, empty := passwordFile(t, "hunter2\n", 0o600), passwordFile(t, "\n", 0o600)
	for want, users := range map[string][]string{
		"--sasl-user is written USER=FILE":                      {"hunter2"},
		"--sasl-user is written USER=FILE, and":                 {"=hunter2"},
		`--sasl-user "bob"=…: there is no such file`:            {"bob=hunter2"},
		`--sasl-user: "bob" is given twice`:                     {"bob=" + file, "bob=" + file},
		"is empty: write the password into it":                  {"bob=" + empty},
		"--sasl-user: the user of DIGEST-MD5 has a control":     {"b\x01b=" + file},
		"--sasl-user: user and password of DIGEST-MD5 are writ": {"b\xff=" + file},
	} {
		args := []string{"zk", "--listen", "127.0.0.1:0"}
		for _, user := range users {
			args = append(args, "--sasl-user", user)
		}
		p := start(t, nil, args...).Exits(64)
		programtest.Contains(t, p.Err.String(), want)
		if strings.Contains(p.Said(), "hunter2") || strings.Count(p.Err.String(), "\n") != 1 {
			t.Errorf("want one line, without a password:\n%s", p.Said())
		}
	}
}
