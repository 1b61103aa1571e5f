package systems

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// helix is a cluster that Helix manages: the elected controller has the participants change the states of partitions.
var helix = &system{
	name: "Helix 1.3.1", key: "helix", members: 1,
	work:  "two controllers, two participants; each partition has a living master",
	play:  playHelix,
	races: map[string]string{"setData -103": twoWrite},
}

// twoWrite is the reason for a version that is not the one expected.
const twoWrite = "two write a node with its version at a time; the second reads it again"

const (
	helixCluster = "cluster"
	helixTimeout = 6 * time.Second
)

func playHelix(s *stage) {
	option := "-Dzk.session.timeout=" + millis(helixTimeout)
	setup := s.process("setup")
	setup.java("HelixSystem", option, "setup", setup.servers, helixCluster, "localhost_1", "localhost_2")
	setup.kill()
	for i := range 2 {
		p := s.process(fmt.Sprintf("controller%d", i+1))
		p.java("HelixSystem", option, "CONTROLLER", p.servers, helixCluster, p.name)
	}
	var participants []*process
	for i := range 2 {
		p := s.process(fmt.Sprintf("localhost_%d", i+1))
		p.java("HelixSystem", option, "PARTICIPANT", p.servers, helixCluster, p.name)
		participants = append(participants, p)
	}
	c := contest{look: nodeLook("/" + helixCluster + "/CONTROLLER/LEADER")}
	c.settle = func(place, place) string { return s.masters(participants) }
	s.timed("two controllers and two participants start", func() string { return s.masters(participants) })
	s.expiries(3, c)
	live := "/" + helixCluster + "/LIVEINSTANCES/" + participants[0].name
	s.changes("a participant's session ends", contest{nodeLook(live), c.settle}, func(before place) {
		participants[0].expire(before.session)
	})
	s.cuts(3, c)
	s.outage(c)
	s.timed("kill -9 of a participant", func() string {
		participants[1].kill()
		return s.masters(participants)
	})
	s.timed("the participant starts again", func() string {
		participants[1].start()
		return s.masters(participants)
	})
	s.kills(c, func(p *process) string {
		p.start()
		return s.masters(participants)
	})
}

// masters waits until each partition has one master, among the participants that run, and each of these has a
// session.
func (s *stage) masters(participants []*process) string {
	s.t.Helper()
	running := map[string]bool{}
	for _, p := range participants {
		if p.runs() {
			running[p.name] = true
		}
	}
	s.children("/"+helixCluster+"/LIVEINSTANCES", len(running))
	s.untilHolds("each partition to have a master", func(conn *zk.Conn) (bool, <-chan zk.Event, error) {
		data, _, changed, err := conn.GetW("/" + helixCluster + "/EXTERNALVIEW/db")
		if err != nil {
			return false, changed, err
		}
		var view struct{ MapFields map[string]map[string]string }
		if err := json.Unmarshal(data, &view); err != nil {
			return false, changed, err
		}
		masters := 0
		for _, states := range view.MapFields {
			for name, state := range states {
				if running[name] && state == "MASTER" {
					masters++
				}
			}
		}
		return masters == 4, changed, nil
	})
	return "each partition has a master that lives"
}
