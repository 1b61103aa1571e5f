//go:build unix

package program

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

// evilArgument is a text that no terminal should get, with a line that looks like one of the program's, and above 4
// KiB.
var evilArgument = "/\x1b]0;owned\a\u202e\u009b31m\r\nFORGED line\t\u2028\xff\xfe" + strings.Repeat("x", 5<<10)

// searchOutput fails if a text has what a terminal executes, a line of others, one above 4 KiB, or a secret.
func searchOutput(t *testing.T, where, text string, secrets ...string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: no UTF-8: %.300q", where, text)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "FORGED"):
			t.Errorf("%s: a line of others: %q", where, line)
		case len(line) > 4<<10:
			t.Errorf("%s: a line of %d bytes: %.300q", where, len(line), line)
		case strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }):
			t.Errorf("%s: a terminal executes, or nobody sees, a part of %.1000q", where, line)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%s: the secret %s is shown: %.1000q", where, secret, text)
		}
	}
}

// output runs the program until it ends, or for two seconds, if it goes on.
func output(t *testing.T, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, programtest.Binary(), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env, cmd.Dir = append(append(os.Environ(), "NO_COLOR=1", "INCUMBENT_AUTH=",
		"INCUMBENT_SERVERS=127.0.0.1:1"), env...), t.TempDir()
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	_ = cmd.Run() // its exit code is another test's
	return b.String()
}

// No argument, of no command and no flag, gets onto the terminal as it is.
func TestNoArgumentIsShownAsItIs(t *testing.T) {
	root := (&app{App: cli.New("incumbent", nil, os.Stdout, os.Stderr)}).root()
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		name := strings.TrimPrefix(c.CommandPath(), "incumbent")
		var before []string
		if c.HasParent() {
			before = []string{c.Name()}
		}
		positional := []string{"/jobs/x"}
		switch c.Name() {
		case "incumbent", "zk", "help", "guard", "completion":
			positional = nil
		case "replay", "why", "serve":
			positional = []string{t.TempDir()}
		case "chart":
			positional = []string{"latch"}
		}
		rest := []string{"--", "true"}
		if c.Name() != "elect" && c.Name() != "lock" {
			rest = nil
		}
		t.Run(c.Name(), func(t *testing.T) {
			t.Parallel()
			run := func(args ...string) {
				text := output(t, nil, append(append(before[:len(before):len(before)], args...), rest...)...)
				searchOutput(t, strings.TrimSpace(name+" "+strings.ToValidUTF8(strings.Join(args, " "), "?")[:12]),
					text)
			}
			run(evilArgument)
			run("/jobs/x", evilArgument)
			run("--" + evilArgument)
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if f.Value.Type() == "bool" || f.Name == "connect-timeout" {
					return
				}
				args := append([]string{}, positional...)
				if c.Flags().Lookup("connect-timeout") != nil {
					args = append(args, "--connect-timeout", "100ms")
				}
				run(append(args, "--"+f.Name+"="+evilArgument)...)
			})
		})
	}
}

// A password in a connect string, or a credential in the wrong place, is not shown.
func TestNoPasswordOfTheCommandLineIsShown(t *testing.T) {
	const secret = "S3cret-Passw0rd"
	for _, servers := range []string{"ann:" + secret + "@127.0.0.1:1",
		"zookeeper://ann:" + secret + "@127.0.0.1:1/app", "127.0.0.1:1,ann:" + secret + "@h:2181/app",
		"digest:ann:" + secret, "127.0.0.1:1,digest:ann:" + secret, "ann:" + secret + "@",
		"zk://digest:ann:" + secret + "@h\n"} {
		for _, command := range []string{"status", "watch", "resign", "elect", "lock"} {
			args := []string{command, "/x", "--connect-timeout", "100ms", "--verbose"}
			if command == "elect" || command == "lock" {
				args = append(args, "--", "true")
			}
			searchOutput(t, command+" "+servers, output(t, []string{"INCUMBENT_SERVERS=" + servers}, args...), secret)
		}
	}
	for _, auth := range []string{"digest:ann:" + secret, "digest:" + secret, "auth:ann:" + secret + ":cdrwa",
		"world:" + secret + ":r", "Digest:ann:" + secret, "sasl:ann:" + secret} {
		searchOutput(t, auth, output(t, []string{"INCUMBENT_AUTH=" + auth}, "status", "/x", "--connect-timeout",
			"100ms", "--verbose"), secret)
		searchOutput(t, "--acl "+auth, output(t, nil, "elect", "/x", "--connect-timeout", "100ms", "--acl", auth,
			"--", "true"), secret)
	}
}
