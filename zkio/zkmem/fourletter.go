package zkmem

import (
	"fmt"
	"strings"
)

const versionText = "3.8.0-zkmem"

// fourLetters answers one of ZooKeeper's four-letter words; ok is false for anything else, a handshake's length above all.
func (s *Server) fourLetters(word string) (answer string, ok bool) {
	if word == "ruok" {
		return "imok", true
	}
	words := map[string]func() string{
		"srvr": s.srvr, "stat": s.stat, "mntr": s.mntr, "wchp": s.wchp, "cons": s.cons,
	}
	tell := words[word]
	if tell == nil {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return tell(), true
}

func (s *Server) mode() string {
	if s.opts.ReadOnly {
		return "read-only"
	}
	return "standalone"
}

func (s *Server) received() int { return s.counts.Total + s.counts.Pings + s.counts.Handshakes }

// nodeCount counts the root twice, as ZooKeeper does, which keeps it under two names.
func (s *Server) nodeCount() int { return s.tree.Len() + 1 }

func (s *Server) srvr() string {
	return fmt.Sprintf("Zookeeper version: %s\n%s", versionText, s.figures())
}

func (s *Server) stat() string {
	return fmt.Sprintf("Zookeeper version: %s\nClients:\n%s\n%s", versionText, s.clients(), s.figures())
}

func (s *Server) figures() string {
	return fmt.Sprintf("Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\n"+
		"Zxid: 0x%x\nMode: %s\nNode count: %d\n",
		s.received(), s.sent, len(s.conns), s.tree.Zxid(), s.mode(), s.nodeCount())
}

func (s *Server) mntr() string {
	return fmt.Sprintf("zk_version\t%s\nzk_server_state\t%s\nzk_packets_received\t%d\nzk_packets_sent\t%d\n"+
		"zk_num_alive_connections\t%d\nzk_outstanding_requests\t0\nzk_znode_count\t%d\nzk_watch_count\t%d\n"+
		"zk_ephemerals_count\t%d\nzk_global_sessions\t%d\n",
		versionText, s.mode(), s.received(), s.sent, len(s.conns), s.nodeCount(), s.watches.Len(),
		s.tree.EphemeralCount(), len(s.sessions))
}

// wchp returns the watched paths, each with the sessions that watch it.
func (s *Server) wchp() string {
	var b strings.Builder
	for _, path := range s.watches.Paths() {
		fmt.Fprintf(&b, "%s\n", path)
		for _, c := range s.watches.Watchers(path) {
			fmt.Fprintf(&b, "\t0x%x\n", c.id.Load())
		}
	}
	return b.String()
}

func (s *Server) cons() string { return s.clients() + "\n" }

// clients returns the connected sessions, by id.
func (s *Server) clients() string {
	var b strings.Builder
	for _, info := range (&View{s}).Sessions() {
		if info.Addr != "" {
			fmt.Fprintf(&b, " /%s[1](queued=0,recved=0,sent=0,sid=0x%x,to=%d)\n", info.Addr, info.ID, milliseconds(info.Timeout))
		}
	}
	return b.String()
}
