package systems

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
)

// solr is SolrCloud: its overseer is elected, and so is the leader of each shard.
var solr = &system{
	name: "Solr 9.10.1", key: "solr", members: 1,
	work:  "two nodes, two shards; documents are added and found",
	play:  playSolr,
	races: map[string]string{"setData -103": twoWrite},
}

const solrTimeout = 8 * time.Second

func playSolr(s *stage) {
	client := s.process("client")
	client.java("SolrSystem", "-Xmx150m", "client", client.servers)
	folder, err := filepath.Abs("solr")
	ok(s.t, err)
	client.do("configure", folder)
	for i, addr := range s.freePorts(2) {
		p := s.process(fmt.Sprintf("node%d", i+1))
		p.java("SolrSystem", "-Xmx400m", "-Dsolr.security.manager.enabled=false", "node", p.servers, port(addr),
			millis(solrTimeout))
	}
	nodes := 2
	work := func() string {
		s.replicas(nodes)
		return client.do("work", 1000)
	}
	c := contest{look: nodeLook("/solr/overseer_elect/leader"), settle: func(place, place) string { return work() }}
	s.timed("two nodes start", func() string {
		client.do("create")
		return work()
	})
	s.expiries(2, c)
	s.cuts(3, c)
	s.outage(c)
	nodes = 1
	s.kills(c, func(p *process) string {
		p.start()
		nodes = 2
		return work()
	})
}

// replicas waits until a number of nodes live, and each of two shards has an active replica on each, one of them
// its leader.
func (s *stage) replicas(nodes int) {
	s.t.Helper()
	s.untilHolds("all replicas to be active", func(conn *zk.Conn) (bool, <-chan zk.Event, error) {
		live, _, err := conn.Children("/solr/live_nodes")
		if err != nil {
			return false, nil, err
		}
		data, _, err := conn.Get("/solr/collections/c/state.json")
		if err != nil {
			return false, nil, err
		}
		var state map[string]struct {
			Shards map[string]struct {
				Replicas map[string]struct {
					State  string `json:"state"`
					Node   string `json:"node_name"`
					Leader string `json:"leader"`
				} `json:"replicas"`
			} `json:"shards"`
		}
		if err := json.Unmarshal(data, &state); err != nil {
			return false, nil, err
		}
		active, leaders := 0, 0
		for _, shard := range state["c"].Shards {
			for _, replica := range shard.Replicas {
				if replica.State == "active" && slices.Contains(live, replica.Node) {
					active++
					if replica.Leader == "true" {
						leaders++
					}
				}
			}
		}
		return len(live) == nodes && active == 2*nodes && leaders == 2, nil, nil
	})
}
