package program

import (
	goflag "flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

var rewrite = goflag.Bool("rewrite-flags", false, "write docs/api/flags.md")

const flagsPage = "../../../docs/api/flags.md"

// shownFlags returns the flags of a command that its help shows.
func shownFlags(c *cobra.Command) (all []*pflag.Flag) {
	c.InitDefaultHelpFlag()
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			all = append(all, f)
		}
	})
	return all
}

// flagTable is the page's part about the flags that a set of commands share.
func flagTable(title string, flags []*pflag.Flag) string {
	text := "\n## " + title + "\n\n| flag | what it does |\n|---|---|\n"
	for _, f := range flags {
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		usage := strings.ReplaceAll(strings.ReplaceAll(f.Usage, "\n", " "), "|", "\\|")
		if def := f.DefValue; def != "" && def != "false" && def != "0" && def != "0s" && def != "[]" &&
			!strings.Contains(usage, "default") {
			usage += fmt.Sprintf(" (default %s)", def)
		}
		text += fmt.Sprintf("| %s | %s |\n", name, usage)
	}
	return text
}

// A page has every flag of every command that operators run.
func TestTheFlagsPageHasEveryFlag(t *testing.T) {
	t.Setenv("INCUMBENT_SERVERS", "")
	t.Setenv("INCUMBENT_RECORD", "")
	root := (&app{App: cli.New("incumbent", nil, os.Stdout, os.Stderr)}).root()
	both := map[string][]*pflag.Flag{}
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			both[c.Name()] = shownFlags(c)
		}
	}
	conn := pflag.NewFlagSet("", 0)
	(&connection{}).flags(&app{}, conn)
	connects := func(f *pflag.Flag) bool { return conn.Lookup(f.Name) != nil }
	shared := func(f *pflag.Flag) bool {
		return slices.ContainsFunc(both["lock"], func(other *pflag.Flag) bool {
			return other.Name == f.Name &&
				other.Usage == f.Usage
		})
	}
	var connFlags []*pflag.Flag
	conn.VisitAll(func(f *pflag.Flag) { connFlags = append(connFlags, f) })
	text := "# Flags of `incumbent`\n\nEvery command's `--help` has them, with examples and exit codes. " +
		"What the commands do is in [on-call.md](../on-call.md).\n" +
		"The tables are written by `go test ./cmd/incumbent/program -run TestTheFlagsPage -rewrite-flags`.\n" +
		flagTable("`status`, `shards`, `doctor`, `watch`, `resign`, `elect`, `lock`: the connection", connFlags)
	var elected []*pflag.Flag
	for _, f := range both["elect"] {
		if shared(f) && !connects(f) {
			elected = append(elected, f)
		}
	}
	text += flagTable("`elect` and `lock`", elected)
	for _, name := range []string{"elect", "lock", "status", "shards", "doctor", "watch", "resign", "zk",
		"why", "replay",
		"serve", "play", "chart"} {
		var own []*pflag.Flag
		for _, f := range both[name] {
			connected := both[name] != nil && slices.ContainsFunc(both[name],
				func(o *pflag.Flag) bool { return o.Name == "connect-timeout" })
			if !(connected && connects(f)) &&
				!((name == "elect" || name == "lock") && slices.Contains(names(elected), f.Name)) {
				own = append(own, f)
			}
		}
		delete(both, name)
		if len(own) > 0 {
			text += flagTable("`"+name+"`", own)
		}
	}
	if len(both) > 0 {
		t.Errorf("commands without a part: %v", both)
	}
	if *rewrite {
		if err := os.WriteFile(flagsPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(flagsPage)
	if err != nil || string(page) != text {
		t.Errorf("docs/api/flags.md is not that of the commands (%v): "+
			"go test ./cmd/incumbent/program -run TestTheFlagsPage -rewrite-flags", err)
	}
}

func names(flags []*pflag.Flag) (all []string) {
	for _, f := range flags {
		all = append(all, f.Name)
	}
	return all
}

// Pages that list the flags of a command list all of them.
func TestPagesThatListFlagsListAll(t *testing.T) {
	root := (&app{App: cli.New("incumbent", nil, os.Stdout, os.Stderr)}).root()
	for page, command := range map[string]string{"../../../docs/testing.md": "zk"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := root.Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range shownFlags(c) {
			if !strings.Contains(string(text), "--"+f.Name) {
				t.Errorf("%s does not have --%s of %s", page, f.Name, command)
			}
		}
	}
	// And no page names a flag that no program has.
	known := map[string]bool{"help": true, "version": true}
	for _, c := range append(root.Commands(), root) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	flags := regexp.MustCompile("incumbent (?:elect|lock|status|doctor|watch|resign|zk|why|replay|serve|play|chart)" +
		"\\b[^`\n]*")
	for _, page := range []string{"on-call.md", "operations.md", "security.md", "flight-log.md", "testing.md",
		"api/doctor.md", "examples/deploy/nightly.service"} {
		text, err := os.ReadFile("../../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range flags.FindAllString(string(text), -1) {
			line, _, _ = strings.Cut(line, " -- ")
			for _, m := range regexp.MustCompile(` --([a-z][a-z-]*)`).FindAllStringSubmatch(line, -1) {
				if !known[m[1]] {
					t.Errorf("docs/%s names --%s, which no command has: %s", page, m[1], line)
				}
			}
		}
	}
}
