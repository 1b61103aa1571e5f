package systems

import (
	"fmt"
	"strings"
	"time"
)

// elasticJob is a job of ElasticJob, whose leader deals the items to the instances. Package elasticjob has the
// plays with instances in Go, and judges who runs what; this one is about the server.
var elasticJob = &system{
	name: "ElasticJob 3.0.4", key: "elasticjob", short: true, members: 1, folder: "../elasticjob/java3",
	work: "two instances share a job of three items",
	play: playElasticJob,
	races: map[string]string{
		"delete -101":          looksFirst,
		"create2 -110":         looksFirst,
		"createContainer -110": looksFirst,
	},
}

// looksFirst is the reason for a code that says that a node is there already, or not there any more.
const looksFirst = "an instance looks for a node before it creates or deletes it; another may be faster"

const (
	jobSpace   = "systems"
	jobName    = "job"
	jobLeader  = "/" + jobSpace + "/" + jobName + "/leader/election/instance"
	jobItems   = 3
	jobCron    = "0/1 * * * * ?"
	jobTimeout = 6 * time.Second
	jobLength  = 100 * time.Millisecond
)

func playElasticJob(s *stage) {
	for i := range 2 {
		p := s.process(fmt.Sprintf("instance%d", i+1))
		p.bare = true
		p.java("Worker", p.servers, jobSpace, jobName, millis(jobTimeout), fmt.Sprintf("10.0.0.%d", i+1),
			fmt.Sprint(jobItems), jobCron, millis(jobLength))
	}
	c := contest{look: nodeLook(jobLeader), settle: func(_, _ place) string { return s.itemsRun() }}
	s.timed("two instances start", s.itemsRun)
	s.expiries(2, c)
	s.cuts(3, c)
	s.outage(c)
	s.kills(c, func(p *process) string {
		p.start()
		return s.itemsRun()
	})
}

// itemsRun waits until each item has run once more.
func (s *stage) itemsRun() string {
	s.t.Helper()
	from := s.now()
	for item := range jobItems {
		s.await(from, fmt.Sprintf("item %d to run", item), func(said saying) bool {
			return strings.HasPrefix(said.text, fmt.Sprintf("done %d ", item))
		})
	}
	return fmt.Sprintf("all %d items run", jobItems)
}
