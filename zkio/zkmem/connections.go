//go:build !js

package zkmem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// use is what a connection was used for, as the words cons and stat show it. Guarded by Server.mu.
type use struct {
	begun          time.Time
	received, sent int
	op             OpCode // of the last reply, with its xid, zxid and time
	xid            int32
	zxid           int64
	at             time.Time
}

// replied notes a reply.
func (u *use) replied(op OpCode, xid int32, zxid int64) {
	u.sent++
	u.op, u.zxid, u.at = op, zxid, time.Now()
	if xid >= 0 { // not of a ping
		u.xid = xid
	}
}

// lastOps are ZooKeeper's names of what a connection was used for last.
var lastOps = map[OpCode]string{
	OpPing: "PING", OpCreateSession: "SESS", OpMulti: "MULT", OpMultiRead: "MLTR", OpCreate: "CREA", OpCreate2: "CREA",
	OpCreateTTL: "CREA", OpCreateContainer: "CREA", OpDelete: "DELE", OpDeleteContainer: "DELE", OpSetData: "SETD",
	OpReconfig: "RECO", OpSetACL: "SETA", OpCloseSession: "CLOS", OpSync: "SYNC", OpCheck: "CHEC", OpExists: "EXIS",
	OpGetData: "GETD", OpSetWatches: "SETW", OpSetWatches2: "STW2", OpAddWatch: "ADDW", OpGetACL: "GETA",
	OpGetChildren:  "GETC",
	OpGetChildren2: "GETC", OpCountDescendants: "GETACN", OpCheckWatches: "CHKW", OpRemoveWatches: "REMW",
	OpWhoAmI:        "HOMI",
	OpGetEphemerals: "GETE",
}

// connections returns the open connections: by session, and those without one by address.
func (s *Server) connections() []*conn {
	list := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *conn) int {
		return cmp.Or(cmp.Compare(a.id.Load(), b.id.Load()), cmp.Compare(a.remote(), b.remote()))
	})
	return list
}

// remote returns the client's address.
func (c *conn) remote() string {
	if addr := c.nc.RemoteAddr(); addr != nil {
		return addr.String()
	}
	return "unknown"
}

func (s *Server) cons() string { return s.clients(false) + "\n" }

// clients returns a line for each connection.
func (s *Server) clients(brief bool) string {
	var b strings.Builder
	for _, c := range s.connections() {
		reads := 1 // the connection that asks is not read from any more
		if c.session == nil {
			reads = 0
		}
		fmt.Fprintf(&b, " /%s[%d](queued=0,recved=%d,sent=%d", c.remote(), reads, c.use.received, c.use.sent)
		if c.session != nil && !brief {
			c.details(&b)
		}
		b.WriteString(")\n")
	}
	return b.String()
}

func (c *conn) details(b *strings.Builder) {
	last := lastOps[c.use.op]
	if last == "" {
		last = "NA"
	}
	fmt.Fprintf(b, ",sid=0x%x,lop=%s,est=%d,to=%d", c.session.id, last, c.use.begun.UnixMilli(),
		milliseconds(c.session.timeout))
	fmt.Fprintf(b, ",lcxid=0x%x,lzxid=0x%x,lresp=%d,llat=0,minlat=0,avglat=0,maxlat=0", c.use.xid, uint64(c.use.zxid),
		c.use.at.Sub(c.srv.start).Milliseconds())
}

func (s *Server) crst() string {
	for c := range s.conns {
		c.use.received, c.use.sent, c.use.op = 0, 0, 0
	}
	return "Connection stats reset.\n"
}

// dump returns the sessions by the time at which they expire, their ephemeral nodes, and the connections.
func (s *Server) dump() string {
	var sessions, clients deadlines
	for _, id := range sortedKeys(s.sessions) {
		sessions.add(s.sessions[id].deadline, fmt.Sprintf("0x%x", id))
	}
	for _, c := range s.connections() {
		end, id := c.use.begun.Add(s.opts.HandshakeTimeout), int64(0)
		if c.session != nil {
			end, id = c.session.deadline, c.session.id
		}
		clients.add(end, fmt.Sprintf("ip: /%s sessionId: 0x%x", c.remote(), id))
	}
	var b strings.Builder
	b.WriteString("SessionTracker dump:\nSession ")
	sessions.print(&b)
	fmt.Fprintf(&b, "ephemeral nodes dump:\nSessions with Ephemerals (%d):\n", len(s.tree.ephemerals))
	for _, id := range sortedKeys(s.tree.ephemerals) {
		fmt.Fprintf(&b, "0x%x:\n", id)
		for _, path := range s.tree.Ephemerals(id) {
			fmt.Fprintf(&b, "\t%s\n", path)
		}
	}
	b.WriteString("Connections dump:\nConnections ")
	clients.print(&b)
	return b.String()
}

// deadlines are lines by the second in which what they describe ends.
type deadlines map[int64][]string

func (d *deadlines) add(at time.Time, line string) {
	if *d == nil {
		*d = deadlines{}
	}
	(*d)[at.Unix()] = append((*d)[at.Unix()], line)
}

func (d deadlines) print(b *strings.Builder) {
	total := 0
	for _, lines := range d {
		total += len(lines)
	}
	fmt.Fprintf(b, "Sets (%d)/(%d):\n", len(d), total)
	for _, at := range sortedKeys(d) {
		fmt.Fprintf(b, "%d expire at %s:\n", len(d[at]), time.Unix(at, 0).UTC().Format(time.UnixDate))
		for _, line := range d[at] {
			fmt.Fprintf(b, "\t%s\n", line)
		}
	}
}
