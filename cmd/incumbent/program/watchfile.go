package program

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	last   leaderFacts        // the command was run for it
	failed bool               // the last command failed, so that the next change runs it again in any case
}

// leaderFacts are what a template has of the leader. All texts are checked: a host is an IP address or a name of
// letters, digits, dots, dashes and underscores.
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
	for _, try := range []leaderFacts{{State: "unknown"}, leaderAt("host-a:1", 1)} {
		if err == nil {
			_, err = f.text(try)
		}
	}
	if err != nil {
		return cli.Usage("--template: %w", err)
	}
	if real, err := filepath.EvalSymlinks(f.out); err == nil {
		f.out = real // the file is replaced, and not the link to it
	}
	if stat, err := os.Stat(f.out); err == nil && !stat.Mode().IsRegular() {
		return cli.Usage("--out: %s is no regular file: want one, which is replaced", f.out)
	}
	f.failed = true // the program before this one may have ended between the file and the command
	return nil
}

// follow applies each state of the leader, until the context ends. While a command runs, only the newest state waits.
func (f *leaderFile) follow(ctx context.Context, client *incumbent.Client, dir string, plains []string) {
	newest, done := make(chan leaderFacts, 1), make(chan struct{})
	go func() {
		defer close(done)
		for facts := range newest {
			f.apply(facts)
		}
	}()
	var known []incumbent.Leader
	for next, err := range client.WatchLeader(ctx, dir, plains...) {
		if err != nil || !next.Unconfirmed.IsZero() && !next.Unknown {
			continue // the changes that are printed say so
		}
		known = slices.DeleteFunc(known, func(l incumbent.Leader) bool {
			return next.Unknown || l.Recipe == "" || l.Recipe == next.Recipe && l.Prefix == next.Prefix
		})
		known = append(known, next)
		facts := f.facts(known)
		select {
		case <-newest:
		default:
		}
		newest <- facts
	}
	close(newest)
	<-done
}

// facts returns what the lines of the directory say together: the first of them that has an address counts.
func (f *leaderFile) facts(lines []incumbent.Leader) leaderFacts {
	all := leaderFacts{State: "vacant"}
	for _, l := range lines {
		switch {
		case l.Unknown:
			all = leaderFacts{State: "unknown"}
		case !l.First.First || all.Address != "":
		case l.Err != nil:
			f.app.Note("%s", events.Foreign(trimLibrary(l.Err).Error(), 2*events.MaxText))
			all = leaderFacts{State: "leader", Token: l.First.Token}
		default:
			all = leaderAt(l.Address, l.First.Token)
			if all.Address == "" {
				f.app.Note("%s advertises %s: want HOST:PORT or http(s)://HOST[:PORT], so its address is left out",
					name(l.First), events.Quote(l.Address, events.MaxName))
			}
		}
	}
	return all
}

// hostName is a name that means nothing else in any file of settings.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?$`)

// leaderAt returns what a template has of a leader. An address that is none is left out.
func leaderAt(address string, token int64) leaderFacts {
	facts := leaderFacts{State: "leader", Token: token}
	if scheme, _, ok := strings.Cut(address, "://"); ok {
		u, err := url.Parse(address)
		ports := map[string]string{"http": "80", "https": "443"}
		if err != nil || ports[scheme] == "" || u.User != nil {
			return facts
		}
		if address = u.Host; u.Port() == "" {
			address = net.JoinHostPort(u.Hostname(), ports[scheme])
		}
	}
	host, port, err := net.SplitHostPort(address)
	number, bad := strconv.ParseUint(port, 10, 16)
	if ip, notIP := netip.ParseAddr(host); err != nil || bad != nil || number == 0 ||
		(notIP != nil || ip.Zone() != "") && !hostName.MatchString(host) {
		return facts
	}
	facts.Host, facts.Port = host, strconv.FormatUint(number, 10)
	facts.Address = net.JoinHostPort(host, facts.Port)
	return facts
}

// text is what the template makes.
func (f *leaderFile) text(facts leaderFacts) ([]byte, error) {
	var b bytes.Buffer
	err := f.parsed.Execute(&b, facts)
	return b.Bytes(), err
}

// apply writes the file, and runs the command if anything is another than before.
func (f *leaderFile) apply(facts leaderFacts) {
	changed := facts != f.last
	if f.parsed != nil {
		text, err := f.text(facts)
		if err == nil {
			changed, err = replaceFile(f.out, text)
		}
		if err != nil {
			f.app.Note("--out: %v; it is tried again at the next change", err)
			return
		}
	}
	f.last = facts
	if len(f.command) == 0 || !changed && !f.failed {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.command[0], f.command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // stdout is for the changes
	cmd.Env = append(os.Environ(), "INCUMBENT_STATE="+facts.State, "INCUMBENT_ADDRESS="+facts.Address,
		"INCUMBENT_TOKEN="+strconv.FormatInt(facts.Token, 10))
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("it was killed after %s", f.timeout)
	}
	if f.failed = err != nil; f.failed {
		f.app.Note("%s: %v; it is run again at the next change", events.Foreign(f.command[0], events.MaxText), err)
	}
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
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
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
