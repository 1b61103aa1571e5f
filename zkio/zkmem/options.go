//go:build !js

package zkmem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options are the options of a server. The zero value is a standalone ZooKeeper 3.9 with its defaults.
type Options struct {
	// Release is the release that the server imitates. Default Release39; with Keeper, NoContainers or NoCreate2, which
	// imitate older servers, Release38. New panics if it is none of the constants.
	Release Release
	// Tick is the unit of all session times: a session expires at the first tick
	// boundary after its timeout. Default 2 s, as in ZooKeeper's sample file.
	Tick time.Duration
	// MinSessionTimeout and MaxSessionTimeout are the shortest and the longest session timeout that is granted. Default
	// 2 and 20 ticks. New panics if the shortest is longer than the longest. See Server.SetSessionTimeouts.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// ContainerInterval is how often empty containers are deleted. Default 60 s.
	ContainerInterval time.Duration
	// HandshakeTimeout is how long a connection's handshake may take, and how long a closing one may take for its
	// last bytes. Default 10 s.
	HandshakeTimeout time.Duration
	// MaxFrame is the longest request in bytes; a longer one ends the connection. Default 1048575.
	MaxFrame int
	// MaxOutbound is how many bytes may wait for a slow reader before it is cut off. Default 32 MiB.
	MaxOutbound int
	// MaxConnections is how many connections are served at a time; further ones are closed. Default 20000.
	MaxConnections int

	// NoContainers and NoCreate2 imitate an older server: it does not know createContainer (before 3.5.3) or create2
	// (before 3.5), answers Unimplemented and closes the connection.
	NoContainers, NoCreate2 bool
	// Unknown has operations that the server does not know, alone and in a multi, and what it does with them. It may
	// be nil.
	Unknown map[OpCode]Unknown
	// ExistsNeedsRead has Release38 answer exists of a node that its caller may not read with NoAuth, as do 3.8.4 and
	// the later ones of 3.8 (ZOOKEEPER-2590). Release39 always does.
	ExistsNeedsRead bool
	// NewSessionIDOnReattach imitates ClickHouse Keeper: a client that reconnects gets a new session, the old one
	// times out.
	NewSessionIDOnReattach bool
	// RefusalVersion is the protocol version in the answer to a handshake that an interceptor refuses, or that comes to
	// a member of an ensemble without a quorum, for session -1: 42 imitates ClickHouse Keeper without a leader. Default
	// 0: the interceptor's answer is that the session has expired, and the member closes the connection.
	RefusalVersion int32
	// Keeper imitates what else ClickHouse Keeper does in another way than ZooKeeper, which the function Keeper lists.
	Keeper bool
	// ExtendedTypes accepts nodes with a TTL, as zookeeper.extendedTypesEnabled=true does. They are deleted at the
	// next ContainerInterval after they have had no write for their TTL and have no children.
	ExtendedTypes bool
	// SuperDigest is the identity that may do everything, "user:" and the digest as DigestAuth computes it: what
	// zookeeper.DigestAuthenticationProvider.superDigest is on a real server. Default none.
	SuperDigest string
	// EnforceAuth has the schemes of which a client must have proven an identity: what enforce.auth.schemes is with
	// enforce.auth.enabled=true. Other requests are refused with SessionRequiresAuth, and the connection ends. They are
	// digest, ip, x509 and sasl (with which sessionRequireClientSASLAuth=true is the same). New panics at another one.
	// Default none.
	EnforceAuth []string
	// SASLUsers has the passwords of the users who can log in by SASL's DIGEST-MD5: what the section Server of a JAAS
	// file is, with a DigestLoginModule. Their identity is of the scheme sasl. Default none: a token is answered as by
	// a server without a login.
	SASLUsers map[string]string
	// ReadOnly imitates a server that is cut off from its ensemble: it accepts only clients that ask for a read-only
	// server, and refuses writes.
	ReadOnly bool

	// SyncLimit is how many ticks the members of an ensemble wait for a message of another one before they take it for
	// failed. Default 5.
	SyncLimit int
	// ReadOnlyMode has a member of an ensemble that finds no quorum serve clients that ask for a read-only server, as
	// readonlymode.enabled=true does. A real one waits for two seconds before it does.
	ReadOnlyMode bool
	// Reconfig accepts reconfig, as reconfigEnabled=true does. It needs write permission for /zookeeper/config, which
	// is the super user's: see SuperDigest.
	Reconfig bool
}

// Unknown is what a server does with an operation that it does not know.
type Unknown struct {
	// Close ends the connection, after the answer if there is one.
	Close bool
	// Code is the answer. OK stands for none: without Close, the request is ignored.
	Code Code
}

func (o Options) withDefaults() Options {
	if o.Release == "" && (o.Keeper || o.NoContainers || o.NoCreate2) {
		o.Release = Release38
	}
	o.Release = cmp.Or(o.Release, Release39)
	mustBeRelease(o.Release)
	mustBeSchemes(o.EnforceAuth)
	o.Tick = orDefault(o.Tick, 2*time.Second)
	o.MinSessionTimeout = orDefault(o.MinSessionTimeout, 2*o.Tick)
	o.MaxSessionTimeout = orDefault(o.MaxSessionTimeout, max(20*o.Tick, o.MinSessionTimeout))
	mustBeLimits(o.MinSessionTimeout, o.MaxSessionTimeout)
	o.ContainerInterval = orDefault(o.ContainerInterval, time.Minute)
	o.HandshakeTimeout = orDefault(o.HandshakeTimeout, 10*time.Second)
	o.MaxFrame = orDefault(o.MaxFrame, 1<<20-1)
	o.MaxOutbound = orDefault(o.MaxOutbound, 32<<20)
	o.MaxConnections = orDefault(o.MaxConnections, 20000)
	o.SyncLimit = orDefault(o.SyncLimit, 5)
	return o
}

func orDefault[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// old reports whether the server imitates 3.8.
func (s *Server) old() bool { return s.opts.Release == Release38 }

// mustBeRelease panics unless the release is one of the constants.
func mustBeRelease(r Release) {
	if r != Release38 && r != Release39 {
		panic(fmt.Sprintf("zkmem: Options.Release is %q: it is one of %q and %q", string(r), string(Release39),
			string(Release38)))
	}
}

// mustBeSchemes panics unless each is a scheme in which an identity can be proven. ZooKeeper does not start otherwise.
func mustBeSchemes(schemes []string) {
	for _, scheme := range schemes {
		if !slices.Contains(Schemes(), scheme) {
			panic(fmt.Sprintf("zkmem: Options.EnforceAuth has %q: it may have %s", scheme,
				strings.Join(Schemes(), ", ")))
		}
	}
}

// Schemes returns the schemes in which an identity can be proven to a server, for Options.EnforceAuth.
func Schemes() []string { return []string{"digest", "ip", "sasl", "x509"} }
