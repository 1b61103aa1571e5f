package systems

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// kafka is Kafka in ZooKeeper mode, on an ensemble of three.
var kafka = &system{
	name: "Kafka 3.9.1", key: "kafka", members: 3,
	work: "two brokers on an ensemble of three; all messages arrive, all replicas in sync",
	play: playKafka,
}

const (
	kafkaTimeout    = 6 * time.Second
	kafkaTopic      = "topic"
	kafkaPartitions = 6
)

// freePorts returns addresses on which nothing listens.
func (s *stage) freePorts(n int) (addrs []string) {
	s.t.Helper()
	for range n {
		addr, err := zkmem.FreeAddr()
		ok(s.t, err)
		addrs = append(addrs, addr)
	}
	return addrs
}

func port(addr string) string { _, port, _ := net.SplitHostPort(addr); return port }

func playKafka(s *stage) {
	addrs := s.freePorts(2)
	for i, addr := range addrs {
		p := s.process(fmt.Sprintf("broker%d", i+1))
		p.java("KafkaSystem", "-Xmx400m", "broker", p.servers, fmt.Sprint(i+1), port(addr), millis(kafkaTimeout))
	}
	client := s.process("client")
	client.java("KafkaSystem", "-Xmx250m", "client", strings.Join(addrs, ","))
	work := func(messages, brokers int) string {
		s.children("/brokers/ids", brokers)
		return client.do("work", kafkaTopic, messages, brokers*kafkaPartitions)
	}
	brokers := 2
	c := contest{look: nodeLook("/controller"), settle: func(place, place) string { return work(1000, brokers) }}
	s.timed("two brokers start", func() string {
		s.children("/brokers/ids", brokers)
		client.do("topic", kafkaTopic, kafkaPartitions)
		return work(10000, brokers)
	})
	s.expiries(3, c)
	s.cuts(3, c)
	s.rolling(c)
	s.outage(c)
	brokers = 1
	s.kills(c, func(p *process) string {
		p.start()
		return work(1000, 2)
	})
}

// children waits until a node has a number of children.
func (s *stage) children(dir string, want int) {
	s.t.Helper()
	s.untilHolds(fmt.Sprintf("%s to have %d children", dir, want), func(conn *zk.Conn) (bool, <-chan zk.Event, error) {
		names, _, changed, err := conn.ChildrenW(dir)
		return len(names) == want, changed, err
	})
}
