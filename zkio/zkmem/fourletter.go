//go:build !js

package zkmem

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"time"
)

// version names the release that this server imitates, and the day of that release, as monitors expect it.
func (s *Server) version() string {
	if s.old() {
		return "3.8.0-zkmem, built on 2022-02-25 08:49 UTC"
	}
	return "3.9.5-zkmem, built on 2026-02-11 20:18 UTC"
}

// fourLetters answers one of ZooKeeper's four-letter words; ok is false for anything else, a handshake's length above
// all.
func (s *Server) fourLetters(c *conn, word string) (answer string, ok bool) {
	words := map[string]func() string{
		"ruok": text("imok"), "gtmk": text("306"), "isro": s.isro,
		"srvr": s.srvr, "stat": s.stat, "mntr": s.mntr, "srst": s.srst,
		"wchs": s.wchs, "wchc": s.wchc, "wchp": s.wchp,
		"cons": s.cons, "crst": s.crst, "dump": s.dump,
		"conf": s.conf, "envi": s.envi, "dirs": text("datadir_size: 0\nlogdir_size: 0\n"),
	}
	say := words[word]
	if say == nil {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.awaitTurn(c) {
		return "", true
	}
	s.received++
	c.use.received++
	if s.mode() == "" {
		return notServing(word, say), true
	}
	return say(), true
}

// countWord counts the answer to a four-letter word, which does not show itself.
func (s *Server) countWord() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
}

func text(answer string) func() string { return func() string { return answer } }

// notServing returns what a member of an ensemble answers while it serves nobody.
func notServing(word string, say func() string) string {
	switch word {
	case "ruok", "gtmk", "envi":
		return say()
	case "isro":
		return "null"
	}
	return "This ZooKeeper instance is not currently serving requests\n"
}

func (s *Server) mode() string {
	switch {
	case s.member != nil:
		return s.member.mode()
	case s.opts.ReadOnly:
		return "read-only"
	}
	return "standalone"
}

func (s *Server) isro() string {
	if s.readOnly() {
		return "ro"
	}
	return "rw"
}

// nodeCount counts the root twice, as ZooKeeper does, which keeps it under two names.
func (s *Server) nodeCount() int { return s.tree.Len() + 1 }

func (s *Server) srvr() string {
	return fmt.Sprintf("Zookeeper version: %s\n%s", s.version(), s.figures())
}

func (s *Server) stat() string {
	return fmt.Sprintf("Zookeeper version: %s\nClients:\n%s\n%s", s.version(), s.clients(true), s.figures())
}

func (s *Server) figures() string {
	text := fmt.Sprintf("Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\n"+
		"Zxid: 0x%x\nMode: %s\nNode count: %d\n",
		s.received, s.sent, len(s.conns), s.tree.Zxid(), s.mode(), s.nodeCount())
	if s.member != nil && s.member.Leads() {
		text += "Proposal sizes last/min/max: -1/-1/-1\n"
	}
	return text
}

func (s *Server) mntr() string {
	return fmt.Sprintf("zk_version\t%s\nzk_server_state\t%s\nzk_packets_received\t%d\nzk_packets_sent\t%d\n"+
		"zk_num_alive_connections\t%d\nzk_outstanding_requests\t0\nzk_znode_count\t%d\nzk_watch_count\t%d\n"+
		"zk_ephemerals_count\t%d\nzk_global_sessions\t%d\nzk_local_sessions\t0\nzk_approximate_data_size\t%d\n"+
		"zk_uptime\t%d\n",
		s.version(), s.mode(), s.received, s.sent, len(s.conns), s.nodeCount(), s.watches.Len(),
		s.tree.EphemeralCount(), len(s.tree.sessions), s.tree.size(), time.Since(s.start).Milliseconds()) +
		s.ensembleFigures()
}

// ensembleFigures returns what mntr shows of the ensemble's leader only.
func (s *Server) ensembleFigures() string {
	if s.member == nil || !s.member.Leads() {
		return ""
	}
	followers, observers, removed := 0, 0, 0
	for _, other := range s.member.ens.servers {
		switch m := other.member; {
		case m == s.member || m.Term() != s.member.Term() || !m.InTerm():
		case m.Observer():
			observers++
		case m.Removed():
			removed++
		default:
			followers++
		}
	}
	return fmt.Sprintf("zk_learners\t%d\nzk_synced_followers\t%d\nzk_synced_non_voting_followers\t%d\n"+
		"zk_synced_observers\t%d\nzk_pending_syncs\t0\n",
		followers+observers+removed, followers, removed, observers)
}

func (s *Server) srst() string {
	s.received, s.sent = 0, 0
	return "Server stats reset.\n"
}

// A real server's words about watches leave out those of children, too. Persistent ones are among both.

func (s *Server) wchs() string {
	table := &s.watches.data
	return fmt.Sprintf("%d connections watching %d paths\nTotal watches:%d\n", len(table.paths),
		len(table.watchers), table.len())
}

// wchp returns the watched paths, each with the sessions that watch it.
func (s *Server) wchp() string {
	var b strings.Builder
	for _, path := range sortedKeys(s.watches.data.watchers) {
		fmt.Fprintf(&b, "%s\n", path)
		for _, c := range s.watches.data.watchers[path] {
			fmt.Fprintf(&b, "\t0x%x\n", c.id.Load())
		}
	}
	return b.String() + "\n"
}

// wchc returns the sessions that watch, each with the paths that it watches.
func (s *Server) wchc() string {
	var b strings.Builder
	for _, c := range s.connections() {
		paths, watches := s.watches.data.paths[c]
		if !watches {
			continue
		}
		fmt.Fprintf(&b, "0x%x\n", c.id.Load())
		for _, path := range sortedKeys(paths) {
			fmt.Fprintf(&b, "\t%s\n", path)
		}
	}
	return b.String() + "\n"
}

func (s *Server) conf() string {
	port := func(secure bool) string {
		if _, port, err := net.SplitHostPort(s.endpoint(secure)); err == nil {
			return port
		}
		return "-1"
	}
	number, quorumSettings := 0, ""
	if m := s.member; m != nil {
		number, quorumSettings = m.ID()+1, m.settings()
	}
	return fmt.Sprintf("clientPort=%s\nsecureClientPort=%s\ndataDir=\ndataDirSize=0\ndataLogDir=\n"+
		"dataLogSize=0\ntickTime=%d\n"+
		"maxClientCnxns=0\nminSessionTimeout=%d\nmaxSessionTimeout=%d\nclientPortListenBacklog=-1\nserverId=%d\n",
		port(false), port(true), milliseconds(s.opts.Tick), milliseconds(s.opts.MinSessionTimeout),
		milliseconds(s.opts.MaxSessionTimeout), number) + quorumSettings
}

func (s *Server) envi() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("Environment:\nzookeeper.version=%s\nhost.name=%s\nos.name=%s\nos.arch=%s\n", s.version(),
		host, runtime.GOOS, runtime.GOARCH)
}

// size returns what a real server calls the approximate size of its data: the bytes of all paths and all data.
func (t *Tree) size() int {
	size := 0
	for path, n := range t.nodes {
		size += len(path) + len(n.data)
	}
	return size
}
