package systems

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// bookKeeper is BookKeeper with auto-recovery, whose auditor is elected in a line of plain sequential nodes.
var bookKeeper = &system{
	name: "BookKeeper 4.17.1", key: "bookkeeper", members: 1,
	work: "two bookies, an auditor; entries are written and read",
	play: playBookKeeper,
}

const (
	bookieTimeout = 6 * time.Second
	auditorLine   = "/ledgers/underreplication/auditorelection"
	bookieFolder  = "/ledgers/available"
)

func playBookKeeper(s *stage) {
	client := s.process("client")
	client.java("BookKeeperSystem", "-Xmx150m", "client", client.servers, millis(bookieTimeout))
	client.do("format")
	for i, addr := range s.freePorts(2) {
		p := s.process(fmt.Sprintf("bookie%d", i+1))
		p.java("BookKeeperSystem", "-Xmx250m", "-XX:MaxDirectMemorySize=256m",
			"bookie", p.servers, port(addr), millis(bookieTimeout))
	}
	c := contest{look: lineLook(auditorLine)}
	work := func(entries int) string {
		s.bookies(2)
		return client.do("work", entries)
	}
	c.settle = func(place, place) string { return work(1000) }
	s.timed("two bookies start", func() string {
		s.elected(c, place{})
		return work(2000)
	})
	s.endingExpiries(2, c) // a bookie whose auto-recovery has lost its session does
	s.cuts(3, c)
	s.outage(c)
	c.settle = func(place, place) string {
		s.bookies(1)
		return "one bookie is left, and is the auditor"
	}
	s.kills(c, func(p *process) string {
		p.start()
		return work(1000)
	})
}

// bookies waits until a number of bookies are registered.
func (s *stage) bookies(want int) {
	s.t.Helper()
	s.untilHolds(fmt.Sprintf("%d bookies to be registered", want), func(conn *zk.Conn) (bool, <-chan zk.Event, error) {
		names, _, changed, err := conn.ChildrenW(bookieFolder)
		n := 0
		for _, name := range names {
			if strings.Contains(name, ":") { // not the folder of those that only read
				n++
			}
		}
		return n == want, changed, err
	})
}
