package systems

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// tick is the servers': session timeouts are 2 to 20 ticks.
const tick = time.Second

// side is one of the two kinds of server that a system runs on: a standalone one, or an ensemble.
type side interface {
	addrs() []string
	stop(server int)
	start(server int)
	settled() // waits until an ensemble has a leader
}

// kinds are the two kinds of server, in the order of the tables.
var kinds = []struct {
	name  string
	start func(t *testing.T, members int) side
}{
	{"zkmem", startMemory},
	{"ZooKeeper " + string(realzk.Newest), startReal},
}

// memory is zkmem.
type memory struct {
	t       *testing.T
	servers []*zkmem.Server
}

func startMemory(t *testing.T, members int) side {
	if members == 1 {
		return &memory{t, []*zkmem.Server{zkmem.Start(t, zkmem.Options{Tick: tick})}}
	}
	return &memory{t, zkmem.StartEnsemble(t, members, zkmem.Options{Tick: tick}).Servers()}
}

func (m *memory) addrs() (all []string) {
	for _, s := range m.servers {
		all = append(all, s.Addr())
	}
	return all
}

func (m *memory) stop(server int)  { m.servers[server].Stop() }
func (m *memory) start(server int) { m.t.Helper(); ok(m.t, m.servers[server].Restart()) }
func (m *memory) settled()         {} // its elections take no time

// standalone is a real server.
type standalone struct {
	t      *testing.T
	server *realzk.Server
}

func startReal(t *testing.T, members int) side {
	if members == 1 {
		return &standalone{t, realzk.Start(t, realzk.Options{Tick: tick, Release: realzk.Newest})}
	}
	return &three{ensemble.Start(t, ensemble.Options{Tick: tick, Release: realzk.Newest})}
}

func (r *standalone) addrs() []string { return []string{r.server.Addr()} }
func (r *standalone) stop(int)        { r.t.Helper(); r.server.Stop(r.t) }
func (r *standalone) start(int)       { r.t.Helper(); r.server.Restart(r.t) }
func (r *standalone) settled()        {}

// three is a real ensemble.
type three struct{ ensemble *ensemble.Ensemble }

func (e *three) addrs() (all []string) {
	for _, s := range e.ensemble.Servers() {
		all = append(all, s.Addr())
	}
	return all
}

func (e *three) stop(server int)  { e.ensemble.Servers()[server].Stop() }
func (e *three) start(server int) { e.ensemble.Servers()[server].Restart() }
func (e *three) settled()         { e.ensemble.Whole() }
