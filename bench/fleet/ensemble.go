package main

import (
	"bufio"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/bench/machine"
	"github.com/incumbent-go/incumbent/bench/servers"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// ensemble is the servers, and what they did.
type ensemble struct {
	*servers.Group
	used time.Duration // CPU time of servers that have ended
}

// Server is what the servers say of themselves, and their CPU time.
type Server struct {
	Watches  int64
	Sessions int64
	CPU      time.Duration
}

// look adds up what the servers say. One that does not answer counts nothing.
func (e *ensemble) look() Server {
	s := Server{CPU: e.used + e.cpu()}
	for _, addr := range e.Addrs {
		answer, err := realzk.Probe(addr, "mntr")
		if err != nil {
			continue
		}
		values := parseMntr(answer)
		s.Watches += values["zk_watch_count"]
		s.Sessions = max(s.Sessions, values["zk_global_sessions"])
	}
	return s
}

// parseMntr reads the lines of the answer to "mntr": a name, a tab and a value. Values that are no whole numbers are
// left out.
func parseMntr(answer string) map[string]int64 {
	values := map[string]int64{}
	for lines := bufio.NewScanner(strings.NewReader(answer)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "\t")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			values[name] = n
		}
	}
	return values
}

// cpu returns the CPU time of the servers that run.
func (e *ensemble) cpu() (sum time.Duration) {
	for _, pid := range e.PIDs() {
		if used, err := machine.CPUOfAll(pid); err == nil {
			sum += used
		}
	}
	return sum
}

// restart kills all servers and starts them again. It returns when they serve.
func (e *ensemble) restart(ctx context.Context) error {
	e.used += e.cpu()
	return e.Group.Restart(ctx)
}
