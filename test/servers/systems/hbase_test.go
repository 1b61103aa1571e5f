package systems

import (
	"slices"
	"time"
)

// hbase is HBase: the active one of its masters is elected by one ephemeral node.
var hbase = &system{
	name: "HBase 2.6.2", key: "hbase", members: 1,
	work: "two masters, a region server; rows are put and scanned",
	play: playHBase,
}

const hbaseTimeout = 8 * time.Second

// opened are the packages that HBase needs of the JVM.
var opened = []string{
	"--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
	"--add-opens=java.base/java.util=ALL-UNNAMED", "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
	"--add-opens=java.base/java.io=ALL-UNNAMED", "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
	"--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
	"--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
}

func playHBase(s *stage) {
	data := s.dir("data")
	java := func(name, role, heap string, more ...string) *process {
		p := s.process(name)
		arguments := append(slices.Clone(opened), heap, role, port(p.servers), millis(hbaseTimeout), data)
		p.java("HBaseSystem", append(arguments, more...)...)
		return p
	}
	ports := s.freePorts(3)
	java("master1", "master", "-Xmx350m", port(ports[0]))
	java("master2", "master", "-Xmx350m", port(ports[1]))
	java("region", "region", "-Xmx350m", port(ports[2]))
	client := java("client", "client", "-Xmx150m")
	work := func(rows int) string { return client.do("work", rows) }
	c := contest{look: nodeLook("/hbase/master"), settle: func(place, place) string { return work(1000) }}
	s.timed("two masters and a region server start", func() string {
		s.elected(c, place{})
		return work(5000)
	})
	s.endingExpiries(2, c) // a master that has lost its session does
	s.cuts(3, c)
	s.outage(c)
	s.kills(c, func(p *process) string {
		p.start()
		return work(1000)
	})
}
