package doctor

import (
	"cmp"
	"context"
	"net"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Settings say what is asked, and what a client would be set to.
type Settings struct {
	Servers []string // "host:port", as zkio.ParseServers returns them
	Chroot  string   // "" for none
	TLS     *zkio.TLS
	SASL    incumbent.Mechanism
	Auth    []zkio.Auth

	Timeout         time.Duration // the session timeout that a client would ask for. Default 15 s
	Tick            time.Duration // its Config.Tick; 0 if it has none
	SyncLimit       int           // its Config.SyncLimit. Default 5
	ObserverMasters bool          // its Config.ObserverMasters
	Elections       int           // how many elections the heartbeats are counted for. Default 1

	Lines     []string  // paths of lines, below the chroot
	LogsBegin time.Time // when the first of the participants' flight logs begins; zero if none was given
	MaxAnswer int       // the Config.MaxAnswer of a client. Default 4 MiB

	Deep    bool   // measure with a scratch node
	Scratch string // the directory for it, below the chroot. Default "/"

	// AdminPort is the port of the servers' admin server; 0: it is not asked.
	AdminPort int

	// Step bounds the time for one answer of one server: a dial, a handshake, a request. Default 3 s.
	Step time.Duration

	// Leave bounds the time for closing sessions and deleting the scratch node after the context has ended. Default:
	// Step, 2 s at most.
	Leave time.Duration

	// Dial replaces the network; it gets "host:port". LookUp replaces the resolver.
	Dial   func(ctx context.Context, address string) (net.Conn, error)
	LookUp func(ctx context.Context, host string) ([]string, error)
	// Now replaces this host's clock where it is compared with those of servers.
	Now func() time.Time

	late     context.Context // ends that long after the examination's
	failures *failures
}

func (s Settings) withDefaults() Settings {
	s.Timeout = cmp.Or(s.Timeout, 15*time.Second)
	s.SyncLimit = cmp.Or(s.SyncLimit, 5)
	s.Elections = cmp.Or(s.Elections, 1)
	s.MaxAnswer = cmp.Or(s.MaxAnswer, 4<<20)
	s.Step = cmp.Or(s.Step, 3*time.Second)
	s.Leave = cmp.Or(s.Leave, min(s.Step, 2*time.Second))
	s.late, s.failures = context.Background(), &failures{}
	if s.Dial == nil {
		s.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.LookUp == nil {
		s.LookUp = net.DefaultResolver.LookupHost
	}
	return s
}

// tick returns the tick that a client would begin with.
func (s Settings) tick() time.Duration { return cmp.Or(s.Tick, machines.DefaultTick) }

// failures are the first requests on open sessions that got no answer, by the server's address. They are safe to use
// from anywhere.
type failures struct {
	mu sync.Mutex
	at map[string]error
}

func (f *failures) note(address string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at == nil {
		f.at = map[string]error{}
	}
	if f.at[address] == nil {
		f.at[address] = err
	}
}

func (f *failures) of(address string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at[address]
}
