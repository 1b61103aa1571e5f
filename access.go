package incumbent

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/digestmd5"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/zkio"
)

// Auth is one credential: ParseAuth and AuthOf make it. It never shows its secret: printed with
// any verb or marshalled, it is the scheme only.
type Auth struct{ of zkio.Auth }

// AuthOf returns a credential of any scheme. Those of "digest" are "user:password".
func AuthOf(scheme string, credentials []byte) Auth { return Auth{zkio.AuthOf(scheme, credentials)} }

// ParseAuth parses "digest:user:password", and the schemes ip and x509. Others are refused, because a server without a
// plugin of its own has none of them. Its errors do not repeat the input.
func ParseAuth(s string) (Auth, error) {
	auth, err := zkio.ParseAuth(s)
	if err != nil {
		return Auth{}, fmt.Errorf("incumbent: %w", err)
	}
	return Auth{auth}, nil
}

// String returns the scheme, and hides the secret.
func (a Auth) String() string { return a.of.String() }

// Format prints the same as String for every verb, so that none shows the secret.
func (a Auth) Format(f fmt.State, verb rune) { a.of.Format(f, verb) }

// MarshalText returns what String does, for encoders.
func (a Auth) MarshalText() ([]byte, error) { return a.of.MarshalText() }

// Mechanism is a SASL mechanism with one identity, for Config.SASL. It logs in every connection of a client. Its
// methods are called on goroutines of their own, for several connections at a time.
//
// An error of Start or Next is a refusal, as one of the server is. A session that has not begun ends with the first,
// with ErrAuthFailed, however many servers there are. One that has begun is tried at the other servers for the session
// timeout since the last connection, and ends with a refusal after that. An error of SASLTransient, and any error after
// the context has ended, is no refusal: the connection ends, and the next server is tried, in the same session.
// Errors are logged: they must not have a secret.
type Mechanism interface {
	// Name returns the name of the mechanism, and of the identity if that is not secret, for messages. It is called
	// once.
	Name() string
	// Start begins the login of one connection, and returns its first token, which may be empty. It is called
	// before the client asks the server for its session: if Start fails, the server does not hear of the client, so
	// that the session can expire. What needs others, such as a ticket of a KDC, belongs here. ctx ends with the time
	// for the connection's handshake (5 s, or a third of the session timeout if that is less), or with the session. A
	// call that goes on after that is given up, and its result dropped. While eight have not returned, none begins.
	Start(ctx context.Context, server SASLServer) (SASLExchange, []byte, error)
}

// SASLExchange is the client's side of one connection's login.
type SASLExchange interface {
	// Next takes a token of the server, nil for ZooKeeper's null, and returns the next one for it. If done is
	// true, nothing is sent: the server has accepted the client, and the client the server. Next is not called after
	// a refusal of the server. One without a login for clients answers the first token with null.
	Next(ctx context.Context, token []byte) (answer []byte, done bool, err error)
}

// SASLServer is the server that a connection is logged in to.
type SASLServer struct {
	Host    string // as configured: a name that was not resolved, or an IP address
	Port    string
	Address string // "ip:port" that the connection is to; "" if Config.Dial does not say
}

// SASLTransient returns an error for a Mechanism of one's own, with the text of err: the login failed for a reason that
// may pass, such as a KDC that does not answer.
func SASLTransient(err error) error { return zkio.SASLTransient(err) }

// DigestMD5 returns the mechanism DIGEST-MD5 (RFC 2831) for a user and a password, for servers with a
// DigestLoginModule. The identity of the client is sasl:user. Printed with any verb or marshalled, it is its name and
// the user only.
//
// The password does not travel, but who reads a login can guess at it, and nothing protects what follows. Set TLS, too.
func DigestMD5(user, password string) Mechanism {
	return digestMD5{digestmd5.NewClient(user, password)}
}

type digestMD5 struct{ digestmd5.Client }

func (d digestMD5) Start(context.Context, SASLServer) (SASLExchange, []byte, error) {
	return d.Begin(), nil, nil
}

// checkSASL returns what is wrong with the user of Config.SASL, nil if nothing is.
func (c Config) checkSASL() error {
	d, ok := c.SASL.(digestMD5)
	if !ok {
		return nil
	}
	if err := d.Check(); err != nil {
		return fmt.Errorf("incumbent: Config.SASL: %w", err)
	}
	return nil
}

// warnOfSASL warns of a login that does not protect what it is about.
func (c Config) warnOfSASL(log *journal.Logger) {
	if c.SASL == nil || c.TLS != nil {
		return
	}
	text := "nothing protects what follows the login by SASL: set Config.TLS"
	if _, ok := c.SASL.(digestMD5); ok {
		text = "the login by DIGEST-MD5 can be read, so its password can be guessed at, " +
			"and nothing protects what follows: set Config.TLS"
	}
	log.Log(zerolog.WarnLevel, text, nil)
}

// mechanism is a Mechanism as zkio has it.
type mechanism struct{ of Mechanism }

func (m mechanism) Name() string { return m.of.Name() }

func (m mechanism) Start(ctx context.Context, server zkio.SASLServer) (zkio.SASLExchange, []byte, error) {
	exchange, token, err := m.of.Start(ctx, SASLServer(server))
	return exchange, token, err
}

// ACL is one entry of a node's access list: an identity and its permissions.
type ACL struct {
	Perms  int32  // sum of the Perm values
	Scheme string // "digest", "sasl", "world", "auth", "x509", "ip", …
	ID     string // as the scheme has it; "anyone" for world, empty for auth
}

// Permissions of an ACL.
const (
	PermRead   = zkio.PermRead   // read the data, list the children
	PermWrite  = zkio.PermWrite  // write the data
	PermCreate = zkio.PermCreate // create children
	PermDelete = zkio.PermDelete // delete children
	PermAdmin  = zkio.PermAdmin  // change the access list
	PermAll    = zkio.PermAll    // all of these
)

// CreatorAll returns the access list that lets the identities of a client, of Config.SASL, of Config.Auth and
// of its certificate, do everything with a node that it created: the default if there are any.
func CreatorAll() []ACL { return aclOf(zkio.CreatorAll) }

// WorldAll returns the access list that lets every client do everything: the default
// without an identity.
func WorldAll() []ACL { return aclOf(zkio.WorldAll) }

// TLS says how connections are encrypted. The files are read again for every connection, so
// that renewed certificates need no restart. The server's certificate must be valid for the
// host name as configured.
type TLS struct {
	CA   string // PEM file of accepted authorities; empty means the system's
	Cert string // PEM files of the client's certificate and key;
	Key  string // both or neither
	// Config, if given, is the base to which the files are added. Its ServerName is used
	// for all servers; leave it empty to use each server's own name.
	Config *tls.Config
}

// NodeACL is a node's access list, as Client.GetACL reads it. Stat.Aversion is its version.
type NodeACL struct {
	List []ACL
	Stat Stat
}

// GetACL reads a node's access list, from the server that the client is connected to, which may lag behind the
// ensemble's leader. It needs the right to read the node or to change its list; a server hides the digests in a list
// from a client that may not change it. Without a connection it waits for one, as Get does. No log has it.
//
// Errors: what is wrong with the path, ErrNoNode, ErrNoAuth, ErrClosed, the context's, or an *Error.
func (c *Client) GetACL(ctx context.Context, path string) (acl NodeACL, err error) {
	c.check(ctx)
	if err := arguments.CheckNode(path); err != nil {
		return NodeACL{}, err
	}
	err = c.send(ctx, "get acl", path, func() error {
		list, stat, err := c.core.IO.AccessList(ctx, path)
		if err == nil {
			acl = NodeACL{aclOf(list), Stat(*stat)}
		}
		return err
	}, unansweredRead)
	return acl, refusedOr(err)
}

// SetACL replaces a node's access list if that has this version (Stat.Aversion of what GetACL returned, or AnyVersion),
// and returns the node's new Stat. It needs the right to change the list, PermAdmin, and is sent at most once. The
// data's version stays, and no watch fires. An entry of the scheme "auth" stands for all identities of the client: see
// CreatorAll. Without a connection SetACL waits for one. No log has it.
//
// Errors: what is wrong with the path or the list, ErrNoNode, ErrNoAuth, ErrInvalidACL, ErrBadVersion,
// ErrOutcomeUnknown, ErrClosed, the context's, or an *Error.
func (c *Client) SetACL(ctx context.Context, path string, list []ACL, version int32) (stat Stat, err error) {
	c.check(ctx)
	if err := cmp.Or(arguments.CheckNode(path), checkACL(path, list)); err != nil {
		return Stat{}, err
	}
	err = c.send(ctx, "set acl", path, func() error {
		now, err := c.core.IO.SetAccessList(ctx, path, accessOf(list), version)
		if err == nil {
			stat = Stat(*now)
		}
		return err
	}, unsent)
	return stat, refusedOr(err)
}

// refusedOr returns the ensemble's refusal in err, if that is one, as the *Error that users see; else err.
func refusedOr(err error) error {
	if refused := refusal(err); refused != nil && !errors.Is(err, ErrOutcomeUnknown) {
		return refused
	}
	return err
}

// checkACL returns what is wrong with the access list of a node.
func checkACL(path string, list []ACL) error {
	if len(list) == 0 {
		return fmt.Errorf("incumbent: %s: an access list without entries, which ZooKeeper refuses: want at least one, "+
			"such as those of CreatorAll or WorldAll", fault.Path(path))
	}
	for _, one := range list {
		if one.Perms&^PermAll != 0 || one.Perms == 0 || one.Scheme == "" {
			return fmt.Errorf("incumbent: %s: an entry of the access list has the permissions %d and the scheme %s: "+
				"want a sum of Perm values, and a scheme such as world, auth, digest, sasl, x509 or ip",
				fault.Path(path), one.Perms, fault.Quoted(one.Scheme))
		}
	}
	return nil
}

// checkACL returns what is wrong with the access list of an operation.
func (o Op) checkACL() error {
	switch {
	case o.ACL == nil:
		return nil
	case o.Verb != "create":
		return fmt.Errorf("incumbent: %s of %s with an access list: only a create has one: see Client.SetACL",
			events.Quote(o.Verb, events.MaxName), fault.Path(o.Path))
	}
	return checkACL(o.Path, o.ACL)
}

// accessLists returns the access lists of operations, by their places.
func accessLists(ops []Op) [][]zkio.ACL {
	lists := make([][]zkio.ACL, len(ops))
	for i, op := range ops {
		lists[i] = accessOf(op.ACL)
	}
	return lists
}

// accessOf returns an access list as zkio has it; nil for nil.
func accessOf(list []ACL) (all []zkio.ACL) {
	for _, one := range list {
		all = append(all, zkio.ACL(one))
	}
	return all
}

func aclOf(list []zkio.ACL) []ACL {
	all := make([]ACL, len(list))
	for i, one := range list {
		all[i] = ACL(one)
	}
	return all
}

// access returns login, credentials and access list as zkio has them.
func (c Config) access() (login zkio.Mechanism, auth []zkio.Auth, acl []zkio.ACL) {
	if c.SASL != nil {
		login = mechanism{of: c.SASL}
	}
	for _, one := range c.Auth {
		auth = append(auth, one.of)
	}
	if c.ACL != nil {
		acl = []zkio.ACL{} // an empty list is not a missing one
	}
	return login, auth, append(acl, accessOf(c.ACL)...)
}
