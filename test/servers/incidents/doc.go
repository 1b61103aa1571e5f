// Package incidents has recorded incidents: real participants, in processes of their own, at real ZooKeeper servers,
// and something that goes wrong. Each has the logs of the participants, the servers' transaction logs, and what package
// why says of them, in golden.txt.
//
//	go test ./test/servers/incidents                         compares what why says with the golden texts
//	go test ./test/servers/incidents -rewrite                writes the golden texts; read the diff
//	go test ./test/servers/incidents -record paused          records this incident again ("." for all); needs servers
//
// What has to be said of each incident stands in incidents.go: the cause of the first loss, and the verdicts that are
// right. A recording that does not fit is not kept.
//
// Those in testdata/two have two causes at once, or work that outlived its right. Each has a file truth.json of what
// was done and of what the driver saw of the participants' work, written while it was recorded. The summary of why is
// compared with that: who led when, why that ended, whether two worked, for how long nobody led, and what to do.
package incidents
