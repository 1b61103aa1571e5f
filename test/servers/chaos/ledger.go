package chaos

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// fate is what a client knows of a write.
type fate string

const (
	written fate = "ok"
	refused fate = "refused"
	unknown fate = "unknown"
)

// write is a guarded write, or a put, as its client saw it. Its number is its own.
type write struct {
	n, called, heard int64
	fate             fate
	part             int
}

// ledger is what the committed transactions of one line show, by their order alone: no clock is needed.
type ledger struct {
	writes  int      // that were committed
	refused int      // that were refused
	dead    int      // items among the dead letters
	again   int      // items that were handled more than once
	overlap []span   // two handled an item at once
	moves   int      // shards that were taken from members that existed
	mayMove int      // how many may be
	wrong   []string // each in words: the rule, then what broke it
}

func (l *ledger) complain(rule, format string, args ...any) {
	l.wrong = append(l.wrong, rule+": "+fmt.Sprintf(format, args...))
}

// judgeLedger holds the writes, the permits and the seals of a line against the lives of its nodes.
func judgeLedger(k kind, clients []client, places []node, history []txn) (l ledger) {
	l.judgeWrites(k, clients, places, history)
	switch k {
	case bySemaphore:
		l.judgePermits(k, clients, places, history)
	case byJob:
		l.judgeSeals(k, history)
	}
	return l
}

// judgeWrites: a guarded write is committed only while the own node exists, once at most, once if its client heard so,
// and never if it heard that it was refused.
func (l *ledger) judgeWrites(k kind, clients []client, places []node, history []txn) {
	committed := map[string]int{}
	for _, t := range history {
		if t.kind != txnSetData || t.path != k.written() {
			continue
		}
		var id string
		var n, token int64
		if _, err := fmt.Sscan(string(t.data), &id, &n, &token); err != nil {
			l.complain("a foreign write", "%q", t.data)
			continue
		}
		l.writes++
		committed[fmt.Sprint(id, ":", n)]++
		guards := with(token, id, places)
		if len(guards) == 0 || slices.ContainsFunc(guards, func(g node) bool { return !g.at(t.zxid) }) {
			l.complain("written without the node", "%s wrote at %#x under the token %#x", id, t.zxid, token)
		}
	}
	l.compare("write", clients, committed)
}

// compare compares what clients know of their writes with how often each was committed.
func (l *ledger) compare(what string, clients []client, committed map[string]int) {
	for _, c := range clients {
		for _, w := range c.writes {
			key := fmt.Sprint(c.id, ":", w.n)
			times := committed[key]
			delete(committed, key)
			switch {
			case times > 1:
				l.complain("committed twice", "%s %s, %d times", what, key, times)
			case w.fate == written && times == 0:
				l.complain("answered and not committed", "%s %s", what, key)
			case w.fate == refused && times == 1:
				l.complain("refused and committed", "%s %s", what, key)
			case w.fate == refused:
				l.refused++
			}
		}
	}
	for key := range committed {
		l.complain("committed and never sent", "%s %s", what, key)
	}
}

// with returns a client's nodes with a token: the permits of one hold have one.
func with(token int64, id string, places []node) (all []node) {
	for _, n := range places {
		if n.czxid == token && n.id == id {
			all = append(all, n)
		}
	}
	return all
}

// judgePermits: no permit is given out above the limit that is in force in that transaction, and never are more
// believed to be held than the highest limit there was.
func (l *ledger) judgePermits(k kind, clients []client, places []node, history []txn) {
	limit, highest := 0, 0
	granted := int64(0)
	for _, t := range history {
		switch {
		case t.path == k.places() && (t.kind == txnSetData || t.kind == txnCreate || t.kind == txnCreate2):
			limit, _ = strconv.Atoi(string(t.data))
			highest = max(highest, limit)
		case path.Dir(t.path) == k.places() && t.ephemeral && t.zxid != granted: // all of a hold are in one transaction
			granted = t.zxid
			held := 0
			for _, n := range places {
				if n.at(t.zxid) {
					held++
				}
			}
			if held > limit {
				l.complain("more permits than the limit", "%d of %d at %#x", held, limit, t.zxid)
			}
		}
	}
	if most := crowd(clients, places); most > highest {
		l.complain("more permits believed than the limit", "%d of %d", most, highest)
	}
}

// crowd returns the highest number of permits that clients believed to hold at one time.
func crowd(clients []client, places []node) (most int) {
	type edge struct {
		at int64
		by int
	}
	var edges []edge
	for _, c := range clients {
		for _, b := range c.awake() {
			permits := len(with(b.token, c.id, places))
			edges = append(edges, edge{b.from, permits}, edge{b.to, -permits})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	held := 0
	for _, e := range edges {
		held += e.by
		most = max(most, held)
	}
	return most
}

// judgeSeals: a seal is created only under its session's own marker, and no other is there then.
func (l *ledger) judgeSeals(k kind, history []txn) {
	nodes, err := lives(k.places(), history, func(int64) moment { return moment{} })
	if err != nil {
		l.complain("unreadable", "%v", err)
	}
	for _, seal := range nodes {
		if !strings.HasPrefix(path.Base(seal.path), "seal-") {
			continue
		}
		marked := false
		for _, n := range nodes {
			if !n.at(seal.czxid) || n == seal {
				continue
			}
			marked = marked || k.owns(n) && n.session == seal.session
			if strings.HasPrefix(path.Base(n.path), "seal-") {
				l.complain("two seals", "%s and %s at %#x", n.path, seal.path, seal.czxid)
			}
		}
		if !marked {
			l.complain("a seal without the marker", "%s at %#x", seal.path, seal.czxid)
		}
	}
}
