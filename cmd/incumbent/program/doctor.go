package program

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"os/signal"
	"path"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/internal/doctor"
	"github.com/incumbent-go/incumbent/zkio"
)

// doctorFlags are those of doctor besides the connection's.
type doctorFlags struct {
	syncLimit, elections, adminPort        int
	observerMasters, quiet, deep, warnOnly bool
	within                                 time.Duration
	lines, logs                            []string
	scratch                                string
}

func (a *app) doctor() *cobra.Command {
	conn, f := &connection{}, doctorFlags{}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "say whether an ensemble is fit for the promises",
		Long: `Ask every server of the list, and each that the ensemble names: does it open
a session, is it of the same ensemble, of which release, in which role, and
how far behind? Which session timeouts does it grant, which tick does it have?
And with --line: who may lead there, and does a node stand in the way? Then
say what that means for a client, problems first, each with what to do. What
could not be asked is listed: nothing is guessed.

It opens sessions and closes them, and writes no node without --deep, which
has one scratch node of its own, and deletes it.

Exit codes:
   0  fit
   1  fit with warnings
   2  not fit
  64  the command line is wrong
  69  no server opened a session
  75  incomplete: what was asked is fit, but not everything could be asked
  130, 143  it was interrupted: nothing is printed`,
		Example: "  incumbent doctor --timeout 6s --line /jobs/nightly\n" +
			"  o=$(incumbent doctor --quiet) || echo \"$o\" | mail -s ensemble ops\n" +
			"  incumbent doctor --json | jq '.findings[].id'",
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error { return a.examine(c.Context(), conn, f) },
	}
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "session-timeout" {
			name = "timeout"
		}
		return pflag.NormalizedName(name)
	})
	conn.flags(a, c.Flags())
	c.Flags().StringArrayVar(&f.lines, "line", nil, "the path of a line to be examined, too (may be repeated)")
	c.Flags().StringArrayVar(&f.logs, "log", nil,
		"a participant's flight log, or a directory of them: is a line's first node older than all? (may be repeated)")
	c.Flags().BoolVar(&f.deep, "deep", false,
		"measure commits, watches and clocks on a scratch node, which is deleted; it takes some seconds")
	c.Flags().StringVar(&f.scratch, "scratch", "/", "the directory for that node")
	c.Flags().IntVar(&f.syncLimit, "sync-limit", 5, "the Config.SyncLimit of the clients")
	c.Flags().BoolVar(&f.observerMasters, "observer-masters", false, "the clients have Config.ObserverMasters")
	c.Flags().IntVar(&f.elections, "elections", 1, "how many elections the heartbeats are counted for")
	c.Flags().IntVar(&f.adminPort, "admin-port", 8080, "the port of the servers' admin server; 0: do not ask it")
	c.Flags().DurationVar(&f.within, "within", 30*time.Second, "how long the whole may take")
	c.Flags().BoolVar(&f.quiet, "quiet", false,
		"print problems and warnings only, and nothing if there are none: for cron")
	c.Flags().BoolVar(&f.warnOnly, "warn-only", false,
		"exit with 0 whatever is found, as before the start of a service")
	a.JSONFlag(c)
	c.Flags().Lookup("json").Usage = "print one JSON object instead"
	return c
}

// maxSyncLimit is the largest syncLimit that is taken for one.
const maxSyncLimit = 1_000_000

// check refuses what cannot be asked for.
func (f doctorFlags) check() error {
	switch {
	case f.within <= 0:
		return cli.Usage("--within is %s: give a positive time, such as 30s", f.within)
	case f.elections < 1:
		return cli.Usage("--elections is %d: give at least 1", f.elections)
	case f.syncLimit < 1 || f.syncLimit > maxSyncLimit:
		return cli.Usage("--sync-limit is %d: give the ensemble's syncLimit, 5 by default", f.syncLimit)
	case f.adminPort < 0 || f.adminPort > 65535:
		return cli.Usage("--admin-port is %d: give a port, or 0", f.adminPort)
	}
	return nil
}

// maxStep is the longest time for one answer.
const maxStep = 3 * time.Second

// settings returns what the flags ask for.
func (c *connection) settings(a *app, f doctorFlags) (doctor.Settings, error) {
	cfg, err := c.config(a)
	if err != nil {
		return doctor.Settings{}, err
	}
	servers, chroot, err := zkio.ParseServers(c.servers)
	if err != nil {
		return doctor.Settings{}, cli.Usage("--servers: %w", err)
	}
	auth, err := credentialsOf(c, a, zkio.ParseAuth)
	if err != nil {
		return doctor.Settings{}, err
	}
	if c.maxAnswer < 0 {
		return doctor.Settings{}, cli.Usage("--max-answer is %d: give the bytes, such as 4194304", c.maxAnswer)
	}
	if err := c.checkTLSFiles(); err != nil {
		return doctor.Settings{}, err
	}
	step := maxStep
	if c.connectTimeout > 0 {
		step = min(step, c.connectTimeout)
	}
	for _, line := range f.lines {
		if err := incumbent.CheckPath(line); err != nil {
			return doctor.Settings{}, cli.Usage("--line: %w", trimLibrary(err))
		}
	}
	if err := incumbent.CheckPath(path.Join(f.scratch, "x")); err != nil {
		return doctor.Settings{}, cli.Usage("--scratch: %w", trimLibrary(err))
	}
	slices.Sort(f.lines)
	begin, err := logsBegin(f.logs)
	if err != nil {
		return doctor.Settings{}, err
	}
	return doctor.Settings{LogsBegin: begin, Servers: servers, Deep: f.deep, Scratch: f.scratch,
		Lines:     slices.Compact(f.lines),
		MaxAnswer: c.maxAnswer, Chroot: chroot,
		TLS: c.tls(), SASL: cfg.SASL, Auth: auth,
		Timeout: c.timeout, Tick: c.tick, SyncLimit: f.syncLimit, ObserverMasters: f.observerMasters,
		Elections: f.elections, AdminPort: f.adminPort, Step: step, Leave: min(step, f.within/5)}, nil
}

// checkTLSFiles refuses files of certificates that cannot be read.
func (c *connection) checkTLSFiles() error {
	if c.tlsCA != "" {
		authorities, err := os.ReadFile(c.tlsCA)
		if err != nil {
			return cli.Usage("--tls-ca: %w", err)
		}
		if !x509.NewCertPool().AppendCertsFromPEM(authorities) {
			return cli.Usage("--tls-ca: %s has no certificate: give a PEM file of authorities", c.tlsCA)
		}
	}
	if c.tlsCert != "" {
		if _, err := tls.LoadX509KeyPair(c.tlsCert, c.tlsKey); err != nil {
			return cli.Usage("--tls-cert and --tls-key: %w", err)
		}
	}
	return nil
}

// examine prints what the examination found, and returns the exit code for it.
func (a *app) examine(ctx context.Context, conn *connection, f doctorFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	settings, err := conn.settings(a, f)
	if err != nil {
		return err
	}
	signals := catch(ctx)
	defer signals.stop()
	defer context.AfterFunc(signals.ctx, func() { signal.Stop(signals.ch) })() // a second one ends the program
	ctx, cancel := context.WithTimeoutCause(signals.ctx, f.within-settings.Leave,
		fmt.Errorf("there was no more time (--within %s)", f.within))
	defer cancel()
	report := doctor.Examine(ctx, settings)
	if sig, came := signals.came().(syscall.Signal); came {
		return cli.Exit(exitSignal+int(sig), fmt.Errorf("interrupted (%s): there is no verdict", sig))
	}
	switch {
	case a.JSON:
		a.Out.Object(report)
	default:
		for _, line := range report.Text(f.quiet) {
			a.Out.Row(line)
		}
	}
	codes := map[doctor.Verdict]int{doctor.Warned: exitWarned, doctor.NotFit: exitNotFit,
		doctor.Incomplete: exitIncomplete, doctor.Unreachable: exitUnavailable}
	if code := codes[report.Verdict]; code != 0 && !f.warnOnly {
		return &cli.ExitError{Code: code}
	}
	return nil
}
