package why

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
	"github.com/incumbent-go/incumbent/machines"
)

// Redact replaces the names in logs and transactions by pseudonyms, before Explain: hosts and
// files, paths but for the part that the recipe itself made, ids of participants, servers, and
// every text of a user. The same name has the same pseudonym throughout. Ids of sessions, zxids
// and times stay. It returns
// the function that replaces a path, for Options.Path.
func Redact(logs []*Log, txns []txnlog.Txn) func(path string) string {
	p := &pseudonyms{known: map[string]string{}, count: map[string]int{}}
	for _, l := range logs {
		l.redact(p)
	}
	for i := range txns {
		for j := range txns[i].Changes {
			txns[i].Changes[j].Path = p.path(txns[i].Changes[j].Path)
		}
	}
	return p.path
}

// Redact replaces the paths in options by the function that the other Redact returned.
func (o *Options) Redact(path func(string) string) {
	o.Path = path(o.Path)
	for _, lines := range o.Commands {
		for i := range lines {
			lines[i].Node = path(lines[i].Node)
		}
	}
}

type pseudonyms struct {
	known map[string]string
	count map[string]int
}

// name returns the pseudonym of a name of some sort.
func (p *pseudonyms) name(sort, name string) string {
	if name == "" {
		return ""
	}
	key := sort + "\x00" + name
	if _, known := p.known[key]; !known {
		p.count[sort]++
		p.known[key] = sort + strconv.Itoa(p.count[sort])
	}
	return p.known[key]
}

// shardDirs are what is in the directory of a group of shards.
var shardDirs = []string{baseOf(machines.ShardMembers("/")), baseOf(machines.ShardWriters("/")),
	baseOf(machines.ShardAssignment("/"))}

// path replaces each part of a path, but for names of places in a line.
func (p *pseudonyms) path(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if kind, _ := kindOf(part); part != "" && !strings.Contains(kind, " ") && !slices.Contains(shardDirs, part) {
			parts[i] = p.name("name", part)
		}
	}
	return strings.Join(parts, "/")
}

func (l *Log) redact(p *pseudonyms) {
	l.Name, l.Header.Host, l.Header.PID = p.name("log", l.Name), p.name("host", l.Header.Host), 0
	l.Header.Servers = slices.Clone(l.Header.Servers) // a header may be of several logs
	for i, s := range l.Header.Servers {
		l.Header.Servers[i] = p.name("server", s)
	}
	for _, id := range slices.Sorted(maps.Keys(l.machines)) {
		m := l.machines[id]
		m.path, m.id = p.path(m.path), p.name("participant", m.id)
	}
	for _, t := range l.terms {
		t.Dir, t.Node = p.path(t.Dir), p.path(t.Node)
		t.listed.dir = p.path(t.listed.dir)
	}
	l.nodes = rekey(p, l.nodes)
	for _, path := range slices.Sorted(maps.Keys(l.nodes)) {
		l.nodes[path].path = path
	}
	l.leases = rekey(p, l.leases)
	for _, path := range slices.Sorted(maps.Keys(l.leases)) {
		l.leases[path].path = path
	}
	l.tried = rekey(p, l.tried)
	l.redactItems(p)
	l.redactPlans(p)
	for i := range l.markers {
		m := &l.markers[i]
		m.path, m.data = p.path(m.path), p.name("participant", m.data)
	}
	for i := range l.writes {
		l.writes[i].Path = p.path(l.writes[i].Path)
	}
	if l.Header.Dump != "" {
		l.Header.Dump = "redacted"
	}
	if l.Damage != "" {
		l.Damage = "redacted"
	}
	if l.lastLine != nil && l.lastLine.Why != events.EndClosed && l.lastLine.Why != events.EndRotated {
		l.lastLine = &events.End{Why: "redacted", Records: l.lastLine.Records}
	}
	for _, id := range slices.Sorted(maps.Keys(l.truncated)) {
		l.truncated[id].node = p.path(l.truncated[id].node)
	}
	for _, g := range l.gaps {
		g.gap.Why = p.gap(g.gap.Why)
	}
	l.seen, l.owners, l.absent = rekeySeen(p, l.seen), rekey(p, l.owners), rekey(p, l.absent)
	l.goneSeqs, l.nodesEnded = nil, nil // they have paths
	for i := range l.gone {
		l.gone[i].path = p.path(l.gone[i].path)
	}
	for i := range l.deletes {
		l.deletes[i].path = p.path(l.deletes[i].path)
	}
	for i := range l.failures {
		l.failures[i].text = ""
	}
	for _, s := range l.sessions {
		for i := range s.attached {
			s.attached[i].server = p.name("server", s.attached[i].server)
		}
		for i := range s.suspended {
			s.suspended[i].text = p.loss(s.suspended[i].text)
		}
		if s.lost != nil {
			s.lost.text = p.loss(s.lost.text)
		}
	}
}

// gap keeps of the text about a gap only what is not a name: the error of a write names a file.
func (p *pseudonyms) gap(why string) string {
	const names = "the log could not be written for "
	if rest, failed := strings.CutPrefix(why, names); failed {
		long, _, _ := strings.Cut(rest, ":")
		if _, err := time.ParseDuration(long); err == nil {
			return names + long
		}
		return "the log could not be written"
	}
	return why
}

// loss keeps of the text about a connection's end only what is not a name.
func (p *pseudonyms) loss(text string) string {
	server, _, found := strings.Cut(text, ": ")
	if !found {
		server = ""
	} else {
		server = p.name("server", server) + ": "
	}
	for _, known := range []string{closedByServer, wasSilent, noAnswer} {
		if strings.Contains(text, known) {
			return server + known
		}
	}
	return server + "failed"
}

// rekeySeen is rekey of what is by directory and name.
func rekeySeen(p *pseudonyms, m map[string]map[string]uint64) map[string]map[string]uint64 {
	renamed := map[string]map[string]uint64{}
	for _, dir := range slices.Sorted(maps.Keys(m)) {
		for _, name := range slices.Sorted(maps.Keys(m[dir])) {
			path := p.path(inDir(dir, name))
			if renamed[dirOf(path)] == nil {
				renamed[dirOf(path)] = map[string]uint64{}
			}
			renamed[dirOf(path)][baseOf(path)] = m[dir][name]
		}
	}
	return renamed
}

func rekey[V any](p *pseudonyms, m map[string]V) map[string]V {
	renamed := make(map[string]V, len(m))
	for _, path := range slices.Sorted(maps.Keys(m)) {
		renamed[p.path(path)] = m[path]
	}
	return renamed
}

// redactItems replaces the names in what a log has of items.
func (l *Log) redactItems(p *pseudonyms) {
	for _, w := range l.items {
		w.refused = p.path(w.refused)
		for i := range w.shares {
			w.shares[i].owner = p.name("participant", w.shares[i].owner)
		}
	}
}

// redactPlans replaces the names in assignments.
func (l *Log) redactPlans(p *pseudonyms) {
	for i := range l.plans {
		one := &l.plans[i]
		owners, ids := map[string]machines.ShardSet{}, map[string]string{}
		for _, node := range slices.Sorted(maps.Keys(one.owners)) {
			owners[p.path(node)] = one.owners[node]
		}
		for _, node := range slices.Sorted(maps.Keys(one.ids)) {
			ids[p.path(node)] = p.name("participant", one.ids[node])
		}
		one.path, one.owners, one.ids = p.path(one.path), owners, ids
	}
}
