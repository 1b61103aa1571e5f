package incumbent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/optimizations"
	"github.com/incumbent-go/incumbent/machines"
)

// Config says which ensemble to use and how. Only Servers is required.
type Config struct {
	// Servers is ZooKeeper's connect string: "zk1:2181,zk2:2181,[::1]:2181/app".
	// Names are resolved again at every attempt. A chroot has to exist already.
	Servers string
	// FollowEnsemble has the list of servers follow the ensemble, as Curator's EnsembleTracker does: the client watches
	// /zookeeper/config, whose addresses for clients join those of Servers. A server that the configuration does not
	// name any more is dropped once one that it names has served a connection; those of Servers stay, and are tried
	// last then. Without a host of its own, an address for clients is at the host that other servers use. With TLS, the
	// port is that of Servers, which have to have one port, because the configuration names none for TLS.
	//
	// A configuration that names no server, one without an address for clients, or a loopback address (unless the
	// client's server is on this machine) changes nothing, and the log says so. Only a client that may reconfigure the
	// ensemble writes it, by default none. A server that only the configuration names, and that has not served this
	// client yet, is not believed that the session has expired before its timeout has gone by. It costs one read for
	// each connection. All requests of the client for /zookeeper/config are for this node, also under a chroot.
	FollowEnsemble bool

	// SessionTimeout is what the client asks of the ensemble, which may grant another. Default 15 s.
	SessionTimeout time.Duration
	// Tick and SyncLimit are the ensemble's own settings (tickTime, syncLimit). A server without contact to its leader
	// goes on answering for a time that depends on them. Too small a value here is unsafe. SyncLimit is 5 by default.
	//
	// Without a Tick, one of 3 s is assumed, ZooKeeper's own default; 2 s is what its sample file has. If the ensemble
	// grants a longer session timeout than it was asked for, half of that is taken to be its tick from then on, and the
	// log says so: the least that a server grants is two ticks, unless its minSessionTimeout is set. A larger tickTime
	// that does not show so (up to half of SessionTimeout) has to be given. A Tick that is given stays, and such a
	// grant is only warned of.
	Tick      time.Duration
	SyncLimit int
	// ObserverMasters says that the ensemble has observers behind observer masters (ZooKeeper 3.6 and later, its
	// setting observerMasterPort), and that this client may be connected to one. Such an observer reports its sessions
	// to the ensemble's leader in two steps, up to a whole tick late: without this setting belief may outlast the
	// session. With it each confirmation lasts up to half a tick less, and the wait after a standstill of the
	// ensemble's leader is half a tick longer. If Tick is set, it needs a SessionTimeout of at least three ticks.
	ObserverMasters bool
	// RideOut keeps belief through a disconnect until Leadership.ValidUntil. By default belief ends at the disconnect,
	// or at ValidUntil if that is first.
	RideOut bool
	// PersistentParents has the directories of recipes, and the parents that CreateRequest.Parents creates, be
	// persistent nodes, which stay when they are empty: Curator's dontUseContainerParents. By default they are
	// containers, if the servers know those, and the ensemble deletes empty ones. What exists stays what it is.
	PersistentParents bool

	// SASL logs in on every connection, before anything else is sent. A refusal is ErrAuthFailed: see Mechanism. Nil is
	// no login. It does not protect the connection: set TLS, too.
	SASL Mechanism
	// Auth is presented on every connection. ACL is what new nodes get. Its default is everything to their creator if
	// the client has an identity: SASL, Auth, or a client certificate in TLS. Without one it is everything to every
	// client, with a warning in the log. If the ensemble does not know the identity, nothing is created: ErrInvalidACL.
	// Replicas with different identities need an ACL that has all of them.
	Auth []Auth
	ACL  []ACL
	// TLS encrypts the connection. The host name as configured is verified.
	TLS *TLS
	// Dial replaces the network; it gets "host:port" as configured. It may be called while another connection is open.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Disable turns single optimizations off.
	Disable Optimizations

	// MaxRequest is the most bytes that one request may take: the data of a node, or all operations of a multi with
	// their data, and in either case 1 KiB for what goes with them, and Config.ACL for each node created. The client
	// refuses a larger request before it is sent. Raise it only if the servers' -Djute.maxbuffer is raised: a server
	// that gets more ends the connection. Default 1048576 (1 MiB), for servers with their default; that is also the
	// least. At most 64 MiB.
	MaxRequest int
	// MaxAnswer is the most bytes that one reply may take: the data of a node, or the names of all children. A larger
	// one is an *Error with the code TOOLARGE, and nothing of it is kept in memory. Servers send replies of any size;
	// in a Java client this is jute.maxbuffer of its JVM. Default 4194304 (4 MiB), or MaxRequest if that is more. At
	// least MaxRequest, because what is written has to be readable; at most 1 GiB.
	MaxAnswer int

	// ConnectRetry paces new sessions after an expiry or refused credentials. After it gives up, attempts go on every
	// 5 s until Close.
	ConnectRetry RetryPolicy

	// Record is where the flight log is written, if anywhere: RecordIn writes into a directory, and RecordTo to a
	// writer, such as the file of CreateLog. Up to 8 MiB of records wait for a slow one. Records above that are
	// dropped, and the log has a gap line in their place. That is logged, and Client.Recording reports it.
	Record *FlightLog
	// Logger gets the client's lines. Package slogger makes one of a slog.Handler. Without a Logger, warnings and
	// errors go to standard error, one line each, unless Silent is set or Record is os.Stderr. Its writer may be slow:
	// up to 1,024 lines wait for it. Lines above that are dropped, Stats.LinesDropped counts them, and a line in their
	// place says how many they are. docs/operations.md has the lines, their levels and keys.
	Logger zerolog.Logger
	// Silent keeps a client without a Logger from writing to standard error. With a Logger it has no effect.
	Silent bool
	// Name tells several clients apart in the log: each line has it under the key "client". Without a Name the lines
	// have no such key.
	Name string

	// Observe is called for each of the rarer events of the client, in their order, on a goroutine of its own: it may
	// be slow. Up to 16,384 events wait for it; what exceeds them is dropped and counted, see EventsDropped. A panic is
	// logged. Client.Stats has what can be read at any time.
	Observe func(Event)

	tickAssumed bool // Tick is not set
}

// withDefaults sets what is not given, and refuses what cannot be right.
func (c Config) withDefaults() (Config, error) {
	c.SessionTimeout = orDefault(c.SessionTimeout, 15*time.Second)
	c.tickAssumed = c.Tick == 0
	c.Tick = orDefault(c.Tick, machines.DefaultTick)
	c.SyncLimit = orDefault(c.SyncLimit, 5)
	c.MaxRequest = orDefault(c.MaxRequest, 1<<20)
	c.MaxAnswer = orDefault(c.MaxAnswer, max(4<<20, c.MaxRequest))
	c.ConnectRetry = orDefault(c.ConnectRetry, RetryBoundedExponential(-1, 200*time.Millisecond, 5*time.Second))
	switch {
	case strings.TrimSpace(c.Servers) == "":
		return c, errors.New(`incumbent: Config.Servers is empty: name the ensemble, as in ` +
			`"zk1:2181,zk2:2181,zk3:2181/app", or in a test zkmem.Start(t).Addr() ` +
			`(the Addr of a zkmem.New is empty until it has a listener)`)
	case c.SessionTimeout < 0:
		return c, fmt.Errorf("incumbent: Config.SessionTimeout is %s: give a positive time, 15s is a good one",
			c.SessionTimeout)
	case c.Tick < 0 || c.Tick > machines.MaxTick:
		return c, fmt.Errorf("incumbent: Config.Tick is %s: give the ensemble's tickTime, 3s by default", c.Tick)
	case c.SyncLimit < 0 || c.SyncLimit > 1<<16:
		return c, fmt.Errorf("incumbent: Config.SyncLimit is %d: give the ensemble's syncLimit, 5 by default",
			c.SyncLimit)
	}
	return c, cmp.Or(c.checkTick(), checkOptions(c), c.checkMessages(), c.checkSASL())
}

// checkTick returns why the tick and the session timeout do not fit together, nil if they do. A tick that is only
// assumed refuses no timeout that leaves time for belief.
func (c Config) checkTick() error {
	shortest := machines.ShortestTimeout(c.Tick, c.ObserverMasters)
	switch {
	case c.tickAssumed && c.SessionTimeout < shortest:
		return fmt.Errorf("incumbent: Config.SessionTimeout is %s, too short for the tick of %s that is assumed "+
			"without Config.Tick: set Config.Tick to the ensemble's tickTime, or ask for %s or more",
			c.SessionTimeout, c.Tick, shortest)
	case c.tickAssumed:
		return nil
	case c.SessionTimeout < 2*c.Tick:
		return fmt.Errorf("incumbent: Config.SessionTimeout is %s, but an ensemble with a tick of %s grants no less "+
			"than %s: ask for that, or set Config.Tick to the ensemble's tickTime",
			c.SessionTimeout, c.Tick, 2*c.Tick)
	case c.ObserverMasters && c.SessionTimeout < 3*c.Tick:
		return fmt.Errorf("incumbent: Config.SessionTimeout is %s, too short behind observer masters with a tick of "+
			"%s: ask for %s or more",
			c.SessionTimeout, c.Tick, 3*c.Tick)
	}
	return nil
}

// The bounds of MaxRequest and MaxAnswer. Machines put up to half of the least into
// one multi.
const (
	minMessage = 0xfffff // the servers' default
	maxRequest = 64 << 20
	maxAnswer  = 1 << 30
)

// checkMessages returns what is wrong with MaxRequest and MaxAnswer, nil if nothing is.
func (c Config) checkMessages() error {
	switch {
	case c.MaxRequest < minMessage || c.MaxRequest > maxRequest:
		return fmt.Errorf("incumbent: Config.MaxRequest is %d bytes: give the servers' jute.maxbuffer, from %d to %d",
			c.MaxRequest, minMessage, maxRequest)
	case c.MaxAnswer < minMessage || c.MaxAnswer > maxAnswer:
		return fmt.Errorf("incumbent: Config.MaxAnswer is %d bytes: give from %d to %d, %d by default", c.MaxAnswer,
			minMessage, maxAnswer, 4<<20)
	case c.MaxAnswer < c.MaxRequest:
		return fmt.Errorf("incumbent: Config.MaxAnswer is %d bytes, and Config.MaxRequest %d: what is written could "+
			"not be read", c.MaxAnswer, c.MaxRequest)
	}
	return nil
}

// options are the session machine's, and in the log's header.
func (c Config) options() map[string]string {
	idle := idleFor
	if c.Disable.IdleSyncs || optimizations.Off(optimizations.IdleSyncs) {
		idle = 0
	}
	options := map[string]string{
		machines.OptionIdleFor:         strconv.Itoa(idle),
		machines.OptionTick:            c.Tick.String(),
		machines.OptionTickAssumed:     strconv.FormatBool(c.tickAssumed),
		machines.OptionAskedTimeout:    c.SessionTimeout.String(),
		machines.OptionSyncLimit:       strconv.Itoa(c.SyncLimit),
		machines.OptionObserverMasters: strconv.FormatBool(c.ObserverMasters),
		machines.OptionRideOut:         strconv.FormatBool(c.RideOut),
		machines.OptionRetry:           c.ConnectRetry.String(),
	}
	if c.PersistentParents {
		options[machines.OptionPersistentParents] = "true"
	}
	return options
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// newSeed is the one source of randomness: GUIDs and jitter of a machine are derived from it, and it is in the log.
func newSeed() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b)
}

// logger returns the Logger, or without one what writes warnings and errors to standard error, unless the flight log
// goes there.
func (c Config) logger(standardError io.Writer) zerolog.Logger {
	switch {
	case !reflect.ValueOf(c.Logger).IsZero():
		return c.Logger
	case c.Silent, c.Record != nil && c.Record.writer == io.Writer(os.Stderr): // lines would spoil the log
		return zerolog.Nop()
	}
	if standardError == nil {
		standardError = os.Stderr
	}
	lines := zerolog.ConsoleWriter{Out: standardError, NoColor: true, TimeFormat: time.DateTime}
	return zerolog.New(lines).Level(zerolog.WarnLevel).With().Timestamp().Logger()
}

// Optimizations are ways of working that make the library faster and change nothing else. All are on by default. A true
// field of Config.Disable turns one off, to find out whether it is the cause of a fault.
type Optimizations struct {
	// IdleSyncs: a client in which nothing leads, is next in line or writes sends a sync, two small packets, four times
	// in each session timeout. It does so for twenty session timeouts after it was needed last. A term that begins in
	// that time begins immediately. Without IdleSyncs, and later, the term begins a tick later: 3 s, or Config.Tick.
	IdleSyncs bool
	// OneFlight: a participant whose node name has a GUID sends the listing of the line right behind the create of its
	// own node. It leads if it is first there, and reads the node 50 ms later. So a term, or a hold, begins one round
	// trip earlier. A client does so once it has read a node of its own in the same directory, because then it may read
	// there.
	OneFlight bool
	// RecursiveWatches: a TreeCache of a whole tree sets one watch that lasts, and that reports what happens to all
	// nodes. Without it, and where a server knows no such watch (before ZooKeeper 3.6), each node has two watches of
	// its own. TreeCache says what differs for nodes that the client may not read.
	RecursiveWatches bool
}

// oneFlight reports whether participants may enrol in one flight.
func (c Config) oneFlight() bool {
	return !c.Disable.OneFlight && !optimizations.Off(optimizations.OneFlight)
}

// recursiveWatches reports whether tree caches may use a recursive watch.
func (c Config) recursiveWatches() bool {
	return !c.Disable.RecursiveWatches && !optimizations.Off(optimizations.RecursiveWatches)
}

// idleFor is for how many session timeouts after its last use, or its last connection, a client hears the leader.
const idleFor = 20

// RetryPolicy is how long to wait before a retry, and when to give up. It is a plain value: comparable, printable,
// without state. The zero value stands for the default of the option that it is assigned to.
//
//	policy                               wait before retry n               retries  total time
//	RetryForever(i)                      i                                 no end   no end
//	RetryNTimes(n, i)                    i                                 n        n·i
//	RetryOnce(i)                         i                                 1        i
//	RetryUntilElapsed(d, i)              i, the last one shortened         by time  at most d
//	RetryExponential(n, base)            random in [0, base·2^n)           n        less than base·(2^(n+1)−2)
//	RetryBoundedExponential(n, base, c)  random in [0, min(c, base·2^n))   n        less than n·c
//
// RetryNTimes(3, i) is at most four attempts. An n below zero means no end in the last two. Every other number or time
// below zero is a mistake: the function that takes the policy returns an error.
type RetryPolicy struct{ policy machines.Policy }

// String returns the policy in one word, as the recorder's log has it.
func (p RetryPolicy) String() string { return p.policy.String() }

// setRetry puts a policy into a machine's options; without one the machine uses its own.
func setRetry(options map[string]string, retry RetryPolicy) {
	if retry != (RetryPolicy{}) {
		options[machines.OptionRetry] = retry.String()
	}
}

// RetryForever retries after the same interval, always.
func RetryForever(interval time.Duration) RetryPolicy {
	return RetryPolicy{machines.Forever(interval)}
}

// RetryNTimes retries n times after the same interval: n+1 attempts in all.
func RetryNTimes(n int, interval time.Duration) RetryPolicy {
	return RetryPolicy{machines.NTimes(n, interval)}
}

// RetryOnce retries one time.
func RetryOnce(interval time.Duration) RetryPolicy { return RetryPolicy{machines.Once(interval)} }

// RetryUntilElapsed retries until d has passed since the first failure; no retry begins later than that.
func RetryUntilElapsed(d, interval time.Duration) RetryPolicy {
	return RetryPolicy{machines.UntilElapsed(d, interval)}
}

// RetryExponential retries n times (below zero: without end) after a random
// wait below base doubled with each retry: full jitter.
func RetryExponential(n int, base time.Duration) RetryPolicy {
	return RetryPolicy{machines.Exponential(n, base)}
}

// RetryBoundedExponential is RetryExponential with a cap on the wait.
func RetryBoundedExponential(n int, base, most time.Duration) RetryPolicy {
	return RetryPolicy{machines.BoundedExponential(n, base, most)}
}

// unrooted returns the path that no chroot applies to: no ensemble has its configuration below one.
func (c Config) unrooted() string {
	if c.FollowEnsemble {
		return machines.EnsembleConfig
	}
	return ""
}

// checkOptions returns an error that names the options which cannot be right: a time, a number or a retry policy below
// zero, unless the field's tag "negative" says what that means.
func checkOptions(options any) error {
	v := reflect.ValueOf(options)
	var errs []error
	for i := range v.NumField() {
		if v.Field(i).IsZero() { // it says nothing
			continue
		}
		field, value := v.Type().Field(i), v.Field(i)
		if !field.IsExported() {
			continue
		}
		of, _, _ := strings.Cut(v.Type().Name(), "[") // without a type parameter
		name := of + "." + field.Name
		switch policy, ok := value.Interface().(RetryPolicy); {
		case ok:
			if err := policy.policy.Check(); err != nil {
				errs = append(errs, fmt.Errorf("incumbent: %s: %w", name, err))
			}
		case field.Anonymous:
			errs = append(errs, checkOptions(value.Interface()))
		case value.CanInt() && value.Int() < 0 && field.Tag.Get("negative") == "":
			errs = append(errs, fmt.Errorf("incumbent: %s is %v: want more, or 0 for the default", name,
				value.Interface()))
		}
	}
	return fault.Together(errs...)
}

// CheckPath returns what is wrong with the path of a line, or with the prefixes of plain elections, and what would be
// right: the error that Latch, Selector, Election and Line would return, before there is a Client.
func CheckPath(path string, prefixes ...string) error {
	if err := arguments.CheckLine(path); err != nil {
		return err
	}
	for _, prefix := range prefixes {
		if err := arguments.CheckPrefix(path, prefix); err != nil {
			return err
		}
	}
	return nil
}
