package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"text/template"
	"time"

	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

// leaderFile keeps a file, and the program that reads it, at the leader's address.
type leaderFile struct {
	template, out string
	command       []string
	timeout       time.Duration

	app    *app
	parsed *template.Template // nil: there is no file
	last   leaderFacts        // without a file, the state that was applied last
}

// leaderFacts are what a template has of the leader. All texts are checked, as incumbent.HostPort says.
type leaderFacts struct {
	State      string // "leader", "vacant", "unknown"
	Address    string // host:port; "" if nobody leads, or its address is not known
	Host, Port string // the parts of Address
	Token      int64  // of the leader; 0 if there is none
}

func (f *leaderFile) flags(set *pflag.FlagSet) {
	set.StringVar(&f.template, "template", "", "write --out by this text/template at each change of the leader: "+
		"it has .Address, .Host, .Port, .Token, and .State, which is leader, vacant or unknown")
	set.StringVar(&f.out, "out", "", "the file that --template makes; it is replaced whole, and keeps its permissions")
	set.DurationVar(&f.timeout, "exec-timeout", 30*time.Second, "how long COMMAND may run before it is killed")
}

// wanted reports whether there is anything to do.
func (f *leaderFile) wanted() bool { return f.parsed != nil || len(f.command) > 0 }

// prepare reads the template, and tries it.
func (f *leaderFile) prepare(a *app) (err error) {
	f.app = a
	switch {
	case (f.template == "") != (f.out == ""):
		return cli.Usage("--template and --out go together: the one makes the other")
	case f.timeout <= 0:
		return cli.Usage("--exec-timeout is %s: want more than 0", f.timeout)
	case f.template == "":
		return nil
	}
	text, err := os.ReadFile(f.template)
	if err == nil {
		f.parsed, err = template.New(filepath.Base(f.template)).Option("missingkey=error").Parse(string(text))
	}
	for _, try := range []leaderFacts{{State: "unknown"}, {"leader", "host-a:1", "host-a", "1", 1}} {
		if err == nil {
			_, err = f.text(try)
		}
	}
	if err != nil {
		return cli.Usage("--template: %w", err)
	}
	if err := f.checkOut(); err != nil {
		return cli.Usage("--out: %s cannot be replaced: %w", f.out, err)
	}
	return nil
}

// checkOut returns why the file cannot be replaced. The file is replaced, and not a link to it.
func (f *leaderFile) checkOut() error {
	if _, err := os.Lstat(f.out); err == nil {
		to, err := filepath.EvalSymlinks(f.out)
		if err != nil {
			return err
		}
		f.out = to
	}
	if stat, err := os.Stat(f.out); err == nil && !stat.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	file, err := besides(f.out)
	if err == nil {
		_ = file.Close()
		err = os.Remove(file.Name())
	}
	return err
}

// besides creates a file that is to take the place of another.
func besides(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
}

// follow gives each state of the leader to the runner, until the context ends.
func (f *leaderFile) follow(ctx context.Context, client *incumbent.Client, dir string, plains []string,
	run *leaderRunner) {
	for leader, err := range client.WatchLeader(ctx, dir, plains...) {
		if err == nil && (leader.Unconfirmed.IsZero() || leader.Unknown) {
			run.put(f.facts(leader))
		}
	}
}

// facts returns what a template has of a leader, and says why it has no address.
func (f *leaderFile) facts(l incumbent.Leader) leaderFacts {
	facts, err := leaderFacts{State: "vacant"}, l.Err
	switch {
	case l.First.First:
		facts = leaderFacts{State: "leader", Token: l.First.Token}
	case l.Unknown, err != nil:
		facts.State = "unknown"
	}
	switch {
	case err == nil && l.Address != "":
		facts.Address, err = incumbent.HostPort(l.Address)
		facts.Host, facts.Port, _ = net.SplitHostPort(facts.Address)
	case err == nil && l.First.First:
		err = fmt.Errorf("%s advertises no address", name(l.First))
	}
	if err != nil {
		f.app.Note("%s", events.Foreign(trimLibrary(err).Error(), 2*events.MaxText))
	}
	return facts
}

// text is what the template makes.
func (f *leaderFile) text(facts leaderFacts) ([]byte, error) {
	var b bytes.Buffer
	err := f.parsed.Execute(&b, facts)
	return b.Bytes(), err
}

// replaceFile gives a file another content, all of it at once, and reports whether it had another. The file keeps its
// permissions, and its owner if this program may give files away.
func replaceFile(path string, content []byte) (changed bool, err error) {
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, content) {
		return false, nil
	}
	mode := os.FileMode(0o644)
	stat, err := os.Stat(path)
	if err == nil {
		mode = stat.Mode().Perm()
	}
	file, err := besides(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(file.Name()) }() // there is none after the rename
	if stat != nil {
		keepOwner(file, stat)
	}
	_, err = file.Write(content)
	for _, step := range []func() error{func() error { return file.Chmod(mode) }, file.Sync} {
		if err == nil {
			err = step()
		}
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	return err == nil, err
}
