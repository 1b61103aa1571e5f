package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// connection has the flags of every command that connects to an ensemble.
type connection struct {
	servers, authFile             string
	sasl                          saslFlags
	logins                        loginFlags
	timeout, tick, connectTimeout time.Duration
	tlsCA, tlsCert, tlsKey        string
	maxAnswer                     int
	verbose                       bool
}

// exitCodes are those of every command that connects, and guardExitCodes those of elect and lock.
const (
	exitCodes      = connectExitCodes + rightsExitCodes
	guardExitCodes = connectExitCodes + `, or the address of
      --http cannot be listened on
  71  no guard could be started, so no command runs` + rightsExitCodes
)

const connectExitCodes = `
  64  the command line is wrong
  69  no server answered in time (--connect-timeout)`

const rightsExitCodes = `
  77  the ensemble does not accept the credentials, or its access lists forbid
      it
  78  something has to be corrected by hand, such as a chroot of --servers that
      does not exist: the message says what`

func (c *connection) flags(a *app, f *pflag.FlagSet) {
	servers := os.Getenv("INCUMBENT_SERVERS")
	if servers == "" {
		servers = "127.0.0.1:2181"
	}
	f.StringVar(&c.servers, "servers", servers, "the ensemble, as host:port,host:port/chroot; INCUMBENT_SERVERS "+
		"sets the default")
	f.DurationVar(&c.timeout, "timeout", 15*time.Second, "session timeout to ask for")
	f.DurationVar(&c.tick, "tick", 0, "the ensemble's tickTime; too small a value is unsafe (default 3s, or "+
		"half of a session timeout that is granted and longer than asked for)")
	f.DurationVar(&c.connectTimeout, "connect-timeout", 10*time.Second,
		"how long to wait for the first connection; 0: without end")
	f.StringVar(&c.authFile, "auth-file", "", "file with digest:user:password, a line for each credential; "+
		"without it, INCUMBENT_AUTH holds one")
	c.sasl.flags(f)
	c.logins.flags(a.logins, f)
	f.StringVar(&c.tlsCA, "tls-ca", "", "PEM file of authorities; with it, or with a certificate, connections "+
		"are encrypted")
	f.StringVar(&c.tlsCert, "tls-cert", "", "PEM file of the own certificate, with --tls-key")
	f.StringVar(&c.tlsKey, "tls-key", "", "PEM file of its key")
	f.IntVar(&c.maxAnswer, "max-answer", 0, "the most bytes that one answer of a server may have: more for a "+
		"directory that cannot be listed (default 4194304)")
	f.BoolVar(&c.verbose, "verbose", false, "log what the library does to stderr")
}

// tls returns how connections are encrypted, nil if they are not.
func (c *connection) tls() *zkio.TLS {
	if c.tlsCA+c.tlsCert == "" {
		return nil
	}
	return &zkio.TLS{CA: c.tlsCA, Cert: c.tlsCert, Key: c.tlsKey}
}

// config returns the library's settings for the flags.
func (c *connection) config(a *app) (incumbent.Config, error) {
	cfg := incumbent.Config{Servers: c.servers, SessionTimeout: c.timeout, Tick: c.tick, MaxAnswer: c.maxAnswer}
	for _, d := range []struct {
		name  string
		value time.Duration
		least time.Duration
	}{{"timeout", c.timeout, 1}, {"tick", c.tick, 0}, {"connect-timeout", c.connectTimeout, 0}} {
		if d.value < d.least {
			return cfg, cli.Usage("--%s is %s: give a positive time, such as 10s", d.name, d.value)
		}
	}
	if (c.tlsCert == "") != (c.tlsKey == "") {
		return cfg, cli.Usage("--tls-cert and --tls-key go together: give both or neither")
	}
	cfg.TLS = (*incumbent.TLS)(c.tls())
	cfg.Logger = zerolog.Nop()
	if c.verbose {
		cfg.Logger = zerolog.New(zerolog.ConsoleWriter{Out: a.Err, NoColor: !a.Err.HasColour(),
			TimeFormat: cli.TimeLayout}).Hook(zerolog.HookFunc(addTime))
	}
	var err error
	if cfg.SASL, err = c.sasl.mechanism(a.noteIfOthersMayRead); err != nil {
		return cfg, err
	}
	if cfg.SASL, err = c.logins.mechanism(cfg.SASL, a.noteIfOthersMayRead); err != nil {
		return cfg, err
	}
	cfg.Auth, err = c.credentials(a)
	return cfg, err
}

// addTime adds the time to a line of the log. Zerolog's own timestamps have no milliseconds.
func addTime(e *zerolog.Event, _ zerolog.Level, _ string) {
	e.Str(zerolog.TimestampFieldName, time.Now().Format(cli.TimeLayout))
}

// credentials reads the credentials. None of its errors contains them.
func (c *connection) credentials(a *app) ([]incumbent.Auth, error) {
	return credentialsOf(c, a, incumbent.ParseAuth)
}

// credentialsOf reads the credentials by this parser. None of its errors contains them.
func credentialsOf[T any](c *connection, a *app, parse func(string) (T, error)) ([]T, error) {
	if c.authFile == "" {
		env := os.Getenv("INCUMBENT_AUTH")
		if env == "" {
			return nil, nil
		}
		auth, err := parse(env)
		if err != nil {
			return nil, cli.Usage("INCUMBENT_AUTH: %w", trimLibrary(err))
		}
		return []T{auth}, nil
	}
	f, err := os.Open(c.authFile)
	if err != nil {
		return nil, cli.Usage("--auth-file: %w", err)
	}
	defer f.Close()
	a.noteIfOthersMayRead(f)
	var all []T
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		auth, err := parse(line)
		if err != nil {
			return nil, cli.Usage("--auth-file %s, line %d: %w", c.authFile, n, err)
		}
		all = append(all, auth)
	}
	if err := lines.Err(); err != nil {
		return nil, cli.Usage("--auth-file: %w", err)
	}
	if len(all) == 0 {
		return nil, cli.Usage("--auth-file %s holds no credential: write digest:user:password into it", c.authFile)
	}
	return all, nil
}

// noteIfOthersMayRead says that a file with a secret is open to too many, if it is.
func (a *app) noteIfOthersMayRead(f *os.File) {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && othersMayRead(info.Mode(), rootOwns(info)) {
		a.Note("others may read %s: chmod 600 it", events.Quote(f.Name(), events.MaxText))
	}
}

// othersMayRead reports whether a file with a secret is open to too many. What root owns, its group may read:
// Kubernetes gives a Secret to a user other than root so, and systemd a credential.
func othersMayRead(mode fs.FileMode, rootOwns bool) bool {
	if rootOwns {
		return mode.Perm()&0o037 != 0
	}
	return mode.Perm()&0o077 != 0
}

// open connects. Its error says in one sentence why there is no connection.
func (c *connection) open(ctx context.Context, cfg incumbent.Config) (*incumbent.Client, error) {
	client, err := c.begin(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := c.await(ctx, client); err != nil {
		c.closeClient(client)
		return nil, err
	}
	return client, nil
}

// begin returns a client that connects in the background.
func (c *connection) begin(ctx context.Context, cfg incumbent.Config) (*incumbent.Client, error) {
	client, err := incumbent.Open(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return nil, cli.Usage("%w", flagNames(err))
	}
	return client, nil
}

// await waits for the first connection, as long as --connect-timeout says. Its error says in one sentence why there is
// none.
func (c *connection) await(ctx context.Context, client *incumbent.Client) error {
	limit, cancel := context.WithCancel(ctx)
	if c.connectTimeout > 0 {
		cause := fmt.Errorf("gave up after %s", c.connectTimeout)
		limit, cancel = context.WithTimeoutCause(ctx, c.connectTimeout, cause)
	}
	defer cancel()
	err := client.WaitConnected(limit)
	if err == nil {
		err = c.checkChroot(limit, client)
	}
	if err == nil {
		return nil
	}
	var coded *cli.ExitError
	switch {
	case errors.As(err, &coded):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, incumbent.ErrAuthFailed), errors.Is(err, incumbent.ErrLoginRequired):
		return failure(err)
	}
	return cli.Exit(exitUnavailable,
		cli.WithLines(err, "Name a running ensemble with --servers or INCUMBENT_SERVERS, or start one in memory with: "+
			"incumbent zk --listen 127.0.0.1:2181"))
}

// checkChroot returns an error if the chroot of --servers does not exist: every line below it
// would look empty. A client without the right to read there goes on: it may have rights below.
func (c *connection) checkChroot(ctx context.Context, client *incumbent.Client) error {
	_, chroot, err := zkio.ParseServers(c.servers)
	if err != nil || chroot == "" {
		return err
	}
	stat, err := client.Exists("/").Do(ctx)
	switch {
	case errors.Is(err, incumbent.ErrNoAuth):
		return nil
	case err == nil && stat == nil:
		return cli.Exit(exitConfig, fmt.Errorf("the chroot %s has to exist already: create it first", chroot))
	}
	return err
}

// closeClient closes a client, within a bound.
func (c *connection) closeClient(client *incumbent.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = client.Close(ctx) // the session's end deletes the nodes that are left
}

// flagNames returns an error that has the names of flags in place of those of settings.
func flagNames(err error) error {
	text := strings.NewReplacer("Config.Servers", "--servers", "Config.SessionTimeout", "--timeout",
		"set Config.Tick to", "set --tick to", "Config.Tick", "--tick", "Config.TLS", "--tls-ca", "Config.ACL", "--acl",
		"Config.Auth", "--auth-file", "replace what is stored", "replace it by --set-limit",
		"set Config.SASL to a mechanism that they take", "log in by a mechanism that they take, with --sasl",
		"Config.SASL", "--sasl",
		"Config.MaxAnswer", "--max-answer", "Config.Record: RecordOptions.Ring", "--record-last",
		"Config.Record: RecordIn", "--record").Replace(err.Error())
	return trimLibrary(errors.New(strings.ReplaceAll(text, "\n", "; ")))
}

// trimLibrary returns an error without the library's name: the program's is before it.
func trimLibrary(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "incumbent: ")) }

// failure gives an error of the library its exit code.
func failure(err error) error {
	var coded *cli.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &coded):
		return err
	case errors.Is(err, incumbent.ErrNoNode): // a chroot that does not exist
		return cli.Exit(exitConfig, err)
	case errors.Is(err, incumbent.ErrNoAuth), errors.Is(err, incumbent.ErrAuthFailed),
		errors.Is(err, incumbent.ErrLoginRequired):
		return cli.Exit(exitNoAuth, flagNames(err))
	case errors.Is(err, incumbent.ErrNotConnected), errors.Is(err, incumbent.ErrTooSlow),
		errors.Is(err, incumbent.ErrDeletedAgain), incumbent.Retryable(err):
		return cli.Exit(exitUnavailable, err)
	case errors.Is(err, incumbent.ErrPersistentNode), errors.Is(err, incumbent.ErrInvalidACL),
		errors.Is(err, incumbent.ErrCounterEnd),
		errors.Is(err, incumbent.ErrTokenFloor), errors.Is(err, incumbent.ErrLimitDiffers),
		errors.Is(err, incumbent.ErrTimeoutTooShort), errors.Is(err, incumbent.ErrLocalSession),
		errors.Is(err, incumbent.ErrQuotaExceeded):
		return cli.Exit(exitConfig, flagNames(err))
	}
	return cli.Exit(cli.ExitFailed, err)
}
