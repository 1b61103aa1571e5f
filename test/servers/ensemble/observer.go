package ensemble

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Observe starts an observer behind an observer master at this port, which a server has after Configure. It returns the
// observer's address for clients when it serves. It is in no server's configuration, and ends with the test.
func (e *Ensemble) Observe(port string) string {
	e.t.Helper()
	s := &Server{e: e, id: Size + 1, release: e.options.Release, dir: filepath.Join(e.dir, "observer")}
	var ports [3]string
	var b strings.Builder
	for i := range ports {
		addr, err := zkmem.FreeAddr()
		if err != nil {
			e.t.Fatal(err)
		}
		_, ports[i], _ = net.SplitHostPort(addr)
		s.client = addr
	}
	fmt.Fprintf(&b, "tickTime=%d\ninitLimit=%d\nsyncLimit=%d\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\n"+
		"4lw.commands.whitelist=*\nadmin.enableServer=false\npeerType=observer\nobserverMasterPort=%s\n",
		e.options.Tick.Milliseconds(), e.options.InitLimit, e.options.SyncLimit, s.data(), ports[2], port)
	for _, other := range e.servers {
		fmt.Fprintf(&b, "server.%d=%s:%s\n", other.id, other.ports[quorum], other.portTo(other.id-1, election))
	}
	fmt.Fprintf(&b, "server.%d=127.0.0.1:%s:%s:observer\n", s.id, ports[0], ports[1])
	err := s.found()
	if err == nil {
		s.process, err = s.release.Launch(s.dir, b.String(), nil, false)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(s.kill)
	if err := e.until("an observer", func() bool { return s.Mode() == "observer" }); err != nil {
		e.t.Fatalf("%v\n%s", err, s.process.Log())
	}
	return s.client
}
