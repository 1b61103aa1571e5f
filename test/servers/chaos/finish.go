//go:build linux

package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// quietWithin returns how long a line may take to come to rest after the last fault.
func (s *stage) quietWithin() time.Duration { return 60*time.Second + 4*s.session }

// settle waits until all lines have come to rest.
func (s *stage) settle(all []*outcome) {
	s.t.Helper()
	s.everybody("hold")
	s.holdsWithin(s.quietWithin(), func() bool {
		for _, o := range all {
			o.settled = o.settled || s.settled(o)
		}
		return !slices.ContainsFunc(all, func(o *outcome) bool { return !o.settled })
	})
}

// leave makes every client leave, and checks what is left of them.
func (s *stage) leave(all []*outcome) {
	s.t.Helper()
	s.everybody("leave")
	for _, o := range all {
		for _, one := range s.slots {
			h := one.hands[o.kind]
			if !s.holdsWithin(within, func() bool { return h.hasLeft() || !h.alive() }) || !h.hasLeft() {
				s.t.Errorf("%s %s did not leave: %v", o.kind, h.id, h.errors)
			}
		}
		s.holdsWithin(s.session/2, func() bool { // they closed their sessions: the servers hang up, and forget
			o.left = s.remains(o.kind)
			return len(o.left) == 0
		})
	}
	for _, o := range all {
		for _, one := range s.slots {
			one.hands[o.kind].in.Close()
			<-one.hands[o.kind].gone
		}
	}
}

// remains returns the nodes and watches of a line.
func (s *stage) remains(k kind) (all []string) {
	s.t.Helper()
	if _, err := s.operator.Sync(k.path()); err != nil {
		s.t.Errorf("sync: %v", err)
	}
	paths, err := s.nodes(k)
	if err != nil {
		s.t.Errorf("the nodes that are left: %v", err)
	}
	for _, p := range paths {
		all = append(all, "node "+p)
	}
	for _, server := range s.e.Servers() {
		watches, err := realzk.Word(server.Addr(), "wchp")
		if err != nil {
			s.t.Errorf("the watches that are left: %v", err)
		}
		for _, line := range strings.Fields(watches) {
			if line == k.path() || strings.HasPrefix(line, k.path()+"/") {
				all = append(all, "watch "+line)
			}
		}
	}
	return all
}

// balance asks all servers what they hold, when only the operator is left.
func (s *stage) balance() {
	s.t.Helper()
	for _, figure := range []string{"zk_watch_count", "zk_ephemerals_count"} {
		s.holdsWithin(4*s.session, func() bool { return s.sum(figure) == 0 })
		if n := s.sum(figure); n != 0 {
			s.t.Errorf("in the end %s is %d", figure, n)
		}
	}
}

func (s *stage) sum(figure string) (n int64) {
	for _, server := range s.e.Servers() {
		one, ok := server.Stat(figure)
		if !ok {
			return -1
		}
		n += one
	}
	return n
}

// truth reads what the servers have on disk.
func (s *stage) truth() ([]txn, []node) {
	s.t.Helper()
	s.clocks.stop()
	var servers [][]string
	for _, server := range s.e.Servers() {
		files, err := server.TxnLogs()
		s.must(err)
		if len(files) == 0 {
			s.t.Fatalf("%s has no transaction log", server)
		}
		servers = append(servers, files)
	}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.copyLogs(servers)
		}
	})
	history, err := readHistory(servers)
	s.must(err)
	nodes, err := lives(root, history, s.clocks.stamp)
	s.must(err)
	s.write("nodes.txt", func(say func(string, ...any)) {
		for _, n := range nodes {
			say("%s %s czxid %d session %#x created %d-%d deleted %d-%d", n.path, n.id, n.czxid, n.session,
				n.created.earliest, n.created.latest, n.deleted.earliest, n.deleted.latest)
		}
	})
	return history, nodes
}

// copyLogs keeps the servers' transaction logs, before their own directories go.
func (s *stage) copyLogs(servers [][]string) {
	for i, files := range servers {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(filepath.Join(s.dir, fmt.Sprintf("server-%d-%s", i+1, filepath.Base(file))), text,
					0o600)
			}
			if err != nil {
				s.t.Log(err)
			}
		}
	}
}

// replay feeds every client's log to fresh machines.
func (s *stage) replay() {
	s.t.Helper()
	for _, k := range s.kinds {
		for _, h := range s.past[k] {
			f, err := os.Open(h.log)
			s.must(err)
			sum, err := engine.Replay(f, 0, machines.Recipes()...)
			f.Close()
			if err != nil && !(h.said.killed && sum.Records == 0) {
				s.t.Errorf("%s does not replay: %v", filepath.Base(h.log), err)
			}
			if sum.Torn && !h.said.killed {
				s.t.Errorf("%s is torn, and nobody killed its writer", filepath.Base(h.log))
			}
			if said, err := os.ReadFile(h.stderr); err != nil || len(said) > 0 { // a panic, or a race
				s.t.Errorf("%s %s says on standard error: %v\n%s", k, h.id, err, said)
			}
		}
	}
}
