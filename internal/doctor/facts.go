package doctor

import (
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// Server is what one server was asked, and what it answered. A value that was not learned is left out.
type Server struct {
	Address  string   `json:"address"`
	Given    bool     `json:"given"`              // in the list of servers
	Listed   bool     `json:"listed"`             // in the ensemble's configuration
	Resolved []string `json:"resolved,omitempty"` // the addresses of its name
	Serves   bool     `json:"serves"`             // it opened a session
	Why      string   `json:"why,omitempty"`      // it did not, or it is not known
	failed   error    // the same
	noQuorum bool     // srvr says that it serves nobody

	Version     string   `json:"version,omitempty"`
	VersionFrom string   `json:"versionFrom,omitempty"` // who said so
	Role        string   `json:"role,omitempty"`        // leader, follower, observer, standalone, read-only
	Granted     *Granted `json:"granted,omitempty"`
	Settings    Learned  `json:"settings"`
	Sync        *Millis  `json:"syncMs,omitempty"` // the median of some
	Lag         *Millis  `json:"lagMs,omitempty"`  // from a commit to its application here, at most

	Clock       *Clock       `json:"clock,omitempty"`
	Certificate *Certificate `json:"certificate,omitempty"`

	again       []string // the addresses of its name, at the end
	largest     int      // a request that it takes, and a larger one that it does not, if that is not the default
	tooLarge    int
	release     release       // of Version
	zxid        int64         // by srvr
	silentWords []string      // the words that are not in the whitelist
	monitored   bool          // mntr was answered
	admin       bool          // the admin server was
	observers   int           // behind this server, which is their observer master
	fsync       time.Duration // that its disk takes to write the log, on average since its start; 0: not known
	buffer      int64         // jute.maxbuffer, if the admin server has it
	refused     error         // its answer to the credentials
	config      string        // /zookeeper/config, as it has it
	configErr   string        // or why that was not read
	grantsErr   string        // why the shortest timeout is not known
	twice       bool          // the list has it more than once
	noChroot    bool
	mute        bool // opened a session, and answered no request
	cut         bool // the end of the examination came before the server was asked
	stranger    bool // is of another ensemble
	behind      bool // did not apply a commit within the time for a step
	joined      bool // knows the sessions of another one
	kept        *session
}

// Granted are the session timeouts that a server grants.
type Granted struct {
	Least Millis `json:"leastMs"` // for one millisecond; 0: it is not known
	Asked Millis `json:"askedMs"` // for Settings.Timeout
	Most  Millis `json:"mostMs"`  // for the longest of the protocol
}

// Learned are settings of a server, as it says itself.
type Learned struct {
	From      string `json:"from,omitempty"` // "conf", "admin server"; "": none of it is known
	Tick      Millis `json:"tickMs,omitempty"`
	SyncLimit int64  `json:"syncLimit,omitempty"`
	ID        int64  `json:"id,omitempty"`
}

const (
	roleLeader     = "leader"
	roleFollower   = "follower"
	roleObserver   = "observer"
	roleStandalone = "standalone"
	roleReadOnly   = "read-only"
)

func (v *Server) learnVersion(text, from string) {
	number, _, _ := strings.Cut(text, ",")
	number, _, _ = strings.Cut(number, "-") // the commit that it was built from
	if v.Version != "" || number == "" {
		return
	}
	v.Version, v.VersionFrom = events.Foreign(number, events.MaxName), from
	v.release = zkio.ParseRelease(number)
}

func (v *Server) learnRole(mode string) {
	if v.Role == "" && slices.Contains([]string{roleLeader, roleFollower, roleObserver, roleStandalone,
		roleReadOnly}, mode) {
		v.Role = mode
	}
}

// learnSettings takes settings by the names that this source has for them.
func (v *Server) learnSettings(f fields, from, tick, syncLimit, id string) {
	ms, ok := f.number(tick)
	if !ok || ms <= 0 || ms > math.MaxInt32 || v.Settings.From != "" {
		return // a server's numbers have 32 bits
	}
	v.Settings = Learned{From: from, Tick: Millis(time.Duration(ms) * time.Millisecond)}
	if n, ok := f.number(syncLimit); ok && n <= math.MaxInt32 {
		v.Settings.SyncLimit = n
	}
	v.Settings.ID, _ = f.number(id)
}

// NotAsked is something that could not be found out, and why.
type NotAsked struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Facts are what was asked and answered.
type Facts struct {
	settings  Settings
	servers   []*Server
	members   []member // of the ensemble's configuration
	notAsked  []NotAsked
	lines     []*Line
	own       *Certificate // the client's
	ended     error        // why not everything was asked
	partial   bool         // something was cut short or refused that a verdict rests on
	deep      *Deep
	noScratch string // why there is no scratch node
}

// serving returns the servers that opened a session.
func (f *Facts) serving() (up []*Server) {
	for _, v := range f.servers {
		if v.Serves {
			up = append(up, v)
		}
	}
	return up
}

// answering returns those of ours that answer requests.
func (f *Facts) answering() []*Server {
	return slices.DeleteFunc(f.ours(), func(v *Server) bool { return v.mute })
}

// ours returns the servers that opened a session, without those of another ensemble.
func (f *Facts) ours() []*Server {
	return slices.DeleteFunc(f.serving(), func(v *Server) bool { return v.stranger })
}

// lacked is missed for what the verdict rests on.
func (f *Facts) lacked(what, why string) {
	f.partial = true
	f.missed(what, why)
}

func (f *Facts) missed(what, why string) { f.notAsked = append(f.notAsked, NotAsked{what, why}) }

// same reports whether both names are of one server: of one address, or of one number in the ensemble, as they say.
func (v *Server) same(o *Server) bool {
	alone := v.Role == roleStandalone && o.Role == roleStandalone // where all have the number 0
	if v.numbered() && o.numbered() && v.Settings.ID == o.Settings.ID && (v.Settings.ID > 0 || alone) {
		return true
	}
	theirs := o.endpoints()
	return slices.ContainsFunc(v.endpoints(), func(e string) bool { return slices.Contains(theirs, e) })
}

// numbered reports whether the server says its number, and is known to be of the same ensemble as others.
func (v *Server) numbered() bool { return v.joined && v.Settings.From != "" }

// endpoints are the addresses of the server's name, with its port.
func (v *Server) endpoints() (all []string) {
	_, port, _ := net.SplitHostPort(v.Address)
	for _, ip := range v.Resolved {
		all = append(all, net.JoinHostPort(ip, port))
	}
	return all
}
