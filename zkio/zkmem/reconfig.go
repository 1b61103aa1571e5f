//go:build !js

package zkmem

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// change is the body of a reconfig. What the client left out is nullID.
type change struct {
	joining, leaving string // an incremental one: server.N=spec, and numbers, separated by commas
	members          string // one that replaces the configuration
	version          int64  // of the configuration that it is meant for; -1 for any

	by func(configuration) configuration // the ensemble's own change, in place of all these
}

// Remove has the ensemble commit a configuration without a member. A follower goes on following without a vote, and
// serves its clients. A leader leads no more: the others elect one. The error is that of the reconfig, such as
// NewConfigNoQuorum. Options.Reconfig is about clients, and need not be set.
func (e *Ensemble) Remove(s *Server) error {
	return e.reconfigure(s, func(id string) change {
		return change{joining: nullID, leaving: id, members: nullID, version: -1}
	})
}

// Add has the ensemble commit a configuration in which a member that was removed has a vote again.
func (e *Ensemble) Add(s *Server) error {
	return e.reconfigure(s, func(string) change {
		i := s.member.ID()
		return change{version: -1, by: func(c configuration) configuration { return c.with(int64(i+1), newSpec(s, i)) }}
	})
}

func (e *Ensemble) reconfigure(s *Server, describe func(id string) change) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case s == nil || s.member == nil || s.member.ens != e:
		return errStranger
	case !e.mayCommit():
		return errNoQuorum
	}
	p := &proposal{caller: Operator(), op: Op{Code: OpReconfig}, change: describe(strconv.Itoa(s.member.ID() + 1))}
	e.leader().propose(p)
	e.flow()
	e.notify()
	return p.result.Err.err()
}

// reconfigured returns the configuration after a reconfig, or why the leader refuses it, in the order of ZooKeeper
// 3.8's checks (PrepRequestProcessor, case reconfig).
func (e *Ensemble) reconfigured(l *member, p *proposal) (configuration, Code) {
	if _, known := l.srv.tree.sessions[p.caller.Session]; p.caller.Session != 0 && !known {
		return configuration{}, SessionExpired
	}
	if p.change.version != -1 && p.change.version != e.config.version {
		return configuration{}, BadVersion
	}
	next, code := e.config.after(p.change)
	switch {
	case code != OK:
		return next, code
	case next.voters() < 2 && p.change.by == nil: // standaloneEnabled is true by default
		return next, BadArguments
	case !e.synced(next):
		return next, NewConfigNoQuorum
	}
	config := l.srv.tree.nodes[configNode]
	return next, allowed(config.acl, PermWrite, p.caller.Auth)
}

// synced reports whether a quorum of a configuration follows the leader now.
func (e *Ensemble) synced(c configuration) bool {
	n := 0
	for _, s := range e.servers {
		if spec, named := c.servers[int64(s.member.ID()+1)]; named && !spec.observer && s.member.InTerm() {
			n++
		}
	}
	return n > c.voters()/2
}

// reconfigures reports whether a reconfig waits for a quorum.
func (m *member) reconfigures() bool {
	return slices.ContainsFunc(m.waiting, func(w pending) bool {
		return w.proposal != nil && w.proposal.op.Code == OpReconfig && w.proposal.refusal == OK
	})
}

// activate has the members be what the committed configuration says.
func (e *Ensemble) activate() {
	absent := e.config.voters()
	for _, s := range e.servers {
		m := s.member
		spec, named := e.config.servers[int64(m.ID()+1)]
		m.SetRemoved(!named)
		m.SetObserver(named && spec.observer)
		if m.Votes() {
			absent--
		}
	}
	e.quorum.SetAbsent(absent)
}

// after returns the configuration that a change leads to. A number that is none is a MarshallingError, as on a real
// server.
func (c configuration) after(by change) (configuration, Code) {
	if by.by != nil {
		return by.by(c), OK
	}
	if by.members != nullID {
		return parseMembers(by.members)
	}
	var leaving []int64
	for _, text := range listed(by.leaving) {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return c, MarshallingError
		}
		leaving = append(leaving, id)
	}
	next := c.without(leaving...)
	for _, text := range listed(by.joining) {
		name, spec, code := parseMember(text)
		switch {
		case code != OK:
			return c, code
		case spec.client == "" || next.clashes(name, spec):
			return c, BadArguments
		}
		next.servers[name] = spec
	}
	return next, OK
}

// listed returns the parts of a list, without blanks around them.
func listed(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" && text != nullID {
			parts = append(parts, part)
		}
	}
	return parts
}

// parseMember reads server.N=spec.
func parseMember(text string) (id int64, spec serverSpec, code Code) {
	key, value, _ := strings.Cut(text, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if key == "" || value == "" || strings.Contains(value, "=") {
		return 0, spec, BadArguments
	}
	id, err := strconv.ParseInt(key[strings.LastIndexByte(key, '.')+1:], 10, 64)
	if err != nil {
		return 0, spec, MarshallingError
	}
	spec, ok := parseSpec(value)
	if !ok {
		return 0, spec, BadArguments
	}
	return id, spec, OK
}

// parseMembers reads a whole configuration, a server on each line or between commas.
func parseMembers(text string) (configuration, Code) {
	c := configuration{servers: map[int64]serverSpec{}}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ",", "\n"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "version=") {
			continue
		}
		if !strings.HasPrefix(line, "server.") {
			return c, BadArguments
		}
		id, spec, code := parseMember(line)
		if code != OK {
			return c, code
		}
		c.servers[id] = spec
	}
	if observers := len(c.servers) - c.voters(); c.voters() < 2 && observers > 0 {
		return c, MarshallingError
	}
	return c, OK
}

// setConfig gives the node of the configuration its data, without a transaction, as when a server starts.
func (t *Tree) setConfig(text string, zxid, at int64) {
	if n := t.nodes[configNode]; n != nil {
		n.data = []byte(text)
		n.stat.Version, n.stat.Mzxid, n.stat.Mtime = -1, zxid, at
	}
}

// restore replaces the data of all members.
func (e *Ensemble) restore(tree *Tree) {
	for _, s := range e.servers {
		s.dropAll()
		s.member.leave()
	}
	for _, session := range e.sessions {
		session.timer.Stop()
	}
	clear(e.sessions)
	e.quorum.Replace(tree.Zxid() >> 32)
	at := e.servers[0].now()
	for _, s := range e.servers {
		s.adopt(tree)
		s.tree.setConfig(e.config.String(), e.config.version, at)
	}
	for _, id := range tree.Sessions() {
		timeout, _ := tree.SessionTimeout(id)
		e.servers[0].track(id, time.Duration(timeout)*time.Millisecond)
	}
	e.settle()
	e.flow()
	e.notify()
}

// settings returns what the word conf shows of a member besides.
func (m *member) settings() string {
	spec := newConfiguration(m.ens.servers).servers[int64(m.ID()+1)]
	_, quorum, _ := net.SplitHostPort(spec.quorum)
	_, election, _ := net.SplitHostPort(spec.election)
	peerType := 0
	if m.Observer() {
		peerType = 1
	}
	text := fmt.Sprintf("initLimit=10\nsyncLimit=%d\nelectionAlg=3\nelectionPort=%s\nquorumPort=%s\npeerType=%d\n",
		m.ens.opts.SyncLimit, election, quorum, peerType)
	if !m.readOnly {
		text += "membership: \n" + m.ens.config.String()
	}
	return text
}
