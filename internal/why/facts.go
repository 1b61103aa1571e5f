package why

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Fact is one line of --facts: a term, a node, a session, a move, a proof, or what became of a job's items. Type says
// which, and only its fields are set. Times are those of the clock that the report shows.
type Fact struct {
	// Type is "verdict", "work-verdict", "writes-verdict", "group", "summary", "term", "node", "session", "move",
	// "work",
	// "trouble", "proof" or "doubt"; of a job's items "dealt", "offered", "taken-over" or "refused".
	Type string `json:"type"`

	Path        string     `json:"path,omitempty"` // the line
	Log         string     `json:"log,omitempty"`
	Participant string     `json:"participant,omitempty"`
	Node        string     `json:"node,omitempty"`
	Token       int64      `json:"token,string,omitempty"`
	Session     string     `json:"session,omitempty"`
	From        *time.Time `json:"from,omitempty"`
	To          *time.Time `json:"to,omitempty"`
	Heard       *time.Time `json:"heard,omitempty"` // when the work heard of the end
	Zxid        string     `json:"zxid,omitempty"`  // of the end

	Verdict   Verdict       `json:"verdict,omitempty"`
	Work      WorkVerdict   `json:"work,omitempty"`      // of a work-verdict, and of the work of two terms
	Both      time.Duration `json:"bothNanos,omitempty"` // of work: for how long both worked
	Writes    *Writes       `json:"writes,omitempty"`    // of a writes-verdict
	Summary   *LineSummary  `json:"summary,omitempty"`   // of a summary
	Group     *GroupSummary `json:"group,omitempty"`     // of a group of shards
	Shard     *int          `json:"shard,omitempty"`     // of a summary, a term or a move
	Cause     Cause         `json:"cause,omitempty"`
	Long      time.Duration `json:"longNanos,omitempty"`
	Next      string        `json:"next,omitempty"`
	NextToken int64         `json:"nextToken,string,omitempty"`
	Row       string        `json:"row,omitempty"`
	NodeEnd   NodeEnd       `json:"nodeEnd,omitempty"` // of a move: what became of the node
	Also      []Cause       `json:"also,omitempty"`    // of a move: what else delayed it
	// of a term: how many it has; of a move: how many were held with those of the next
	Permits   int           `json:"permits,omitempty"`
	Maybe     int           `json:"perhapsPermits,omitempty"` // of a move: how many more may have been held
	Limit     int           `json:"limit,omitempty"`          // of a semaphore
	Code      events.Code   `json:"code,omitempty"`           // of a trouble
	Certainty Certainty     `json:"certainty,omitempty"`
	Between   time.Duration `json:"betweenNanos,omitempty"`
	Error     time.Duration `json:"errorNanos,omitempty"`
	How       string        `json:"how,omitempty"`
	Story     []Sentence    `json:"story,omitempty"`
	Text      string        `json:"text,omitempty"`
	Items     []int         `json:"items,omitempty"` // of a job
	Owner     string        `json:"owner,omitempty"` // the instance that they were dealt to
	Records   []Ref         `json:"records,omitempty"`
}

// Summary returns the verdict, the moves that were asked for and the doubts.
func (r *Report) Summary() []Fact { return slices.Collect(r.EachOfSummary()) }

// EachOfSummary is Summary without a list of all of them: there may be many.
func (r *Report) EachOfSummary() iter.Seq[Fact] {
	return func(yield func(Fact) bool) {
		if !yieldAll(r.verdictFacts(), yield) {
			return
		}
		for _, m := range r.Moves {
			if !yieldAll(r.factsOfMove(m), yield) {
				return
			}
		}
		var rest []Fact
		for _, t := range r.Troubles {
			rest = append(rest, t.fact())
		}
		for _, d := range r.Doubts {
			rest = append(rest, Fact{Type: "doubt", Text: d.Text, Records: d.Records})
		}
		yieldAll(rest, yield)
	}
}

// yieldAll yields all facts, and reports whether more are wanted.
func yieldAll(all []Fact, yield func(Fact) bool) bool {
	return !slices.ContainsFunc(all, func(f Fact) bool { return !yield(f) })
}

func (r *Report) verdictFacts() []Fact {
	all := []Fact{{Type: "verdict", Verdict: r.Verdict, Text: r.Why}}
	if r.Work != WorkNone {
		all = append(all, Fact{Type: "work-verdict", Work: r.Work, Text: r.WorkWhy})
	}
	if r.Writes.Verdict != WritesNone {
		all = append(all, Fact{Type: "writes-verdict", Writes: &r.Writes, Text: r.Writes.text()})
	}
	for i := range r.Groups {
		all = append(all, Fact{Type: "group", Path: r.Groups[i].Path, Group: &r.Groups[i]})
	}
	for i := range r.Summaries {
		s := &r.Summaries[i]
		all = append(all, Fact{Type: "summary", Path: s.Path, Shard: s.Shard, Summary: s})
	}
	return all
}

// factsOfMove returns a move, and what delayed it.
func (r *Report) factsOfMove(m Move) []Fact {
	all := []Fact{r.moveFact(m)}
	for _, o := range m.Work {
		all = append(all, o.fact(m.Path))
	}
	for _, t := range m.Troubles {
		all = append(all, t.fact())
	}
	return all
}

// Facts returns all that the sentences were made of: the terms of every line, the nodes and
// sessions of every log, then the moves that were asked for with their proofs.
func (r *Report) Facts() []Fact { return slices.Collect(r.EachFact()) }

// EachFact is Facts without a list of all of them: there may be many.
func (r *Report) EachFact() iter.Seq[Fact] {
	return func(yield func(Fact) bool) {
		for _, n := range r.lines {
			for _, t := range n.terms {
				if !yield(r.termFact(t)) {
					return
				}
			}
		}
		for _, l := range r.logs {
			if !r.logFacts(l, yield) {
				return
			}
		}
		for f := range r.EachOfSummary() {
			if !yield(f) {
				return
			}
		}
		for _, m := range r.Moves {
			for _, p := range m.Proofs {
				if !yield(Fact{Type: "proof", Path: m.Path, Token: p.Earlier.Token, NextToken: p.Later.Token,
					Certainty: p.Certainty, Between: p.Between, Error: p.Error, How: p.How, Records: p.Records}) {
					return
				}
			}
		}
	}
}

// logFacts yields what a log has of a job's items, of nodes and of sessions. It reports whether more is wanted.
func (r *Report) logFacts(l *Log, yield func(Fact) bool) bool {
	if !yieldAll(r.itemFacts(l), yield) {
		return false
	}
	for _, path := range slices.Sorted(maps.Keys(l.nodes)) {
		if !yield(r.nodeFact(l, l.nodes[path])) {
			return false
		}
	}
	for _, s := range l.sessions {
		f := Fact{Type: "session", Log: l.Name, Session: hex(s.id), Long: s.timeout, From: r.at(l, s.attached[0].at)}
		if s.lost != nil {
			f.To, f.Text = r.at(l, s.lost.at), oneLine(s.lost.text)
		}
		if !yield(f) {
			return false
		}
	}
	return true
}

func (r *Report) at(l *Log, at int64) *time.Time {
	t := time.Unix(0, r.wall(l, at)).UTC()
	return &t
}

func (r *Report) termFact(t *Term) Fact {
	f := Fact{Type: "term", Path: t.Dir, Log: t.Log.Name, Participant: t.who(), Node: t.Node,
		Token: t.Token, Row: t.Row,
		From: r.at(t.Log, t.ElectedAt), To: r.at(t.Log, t.rightUntil()), Text: string(t.Reason),
		Records: []Ref{t.ref(t.Elected)}, Shard: shardNumber(t.machine().shard)}
	if s := t.Log.sessionNumbered(t.Session); s != nil {
		f.Session = hex(s.id)
	}
	if t.hasPermits() {
		f.Permits, f.Limit = permitsOf(t), t.machine().limit
	}
	if t.Stopped != 0 {
		f.Heard = r.at(t.Log, t.StoppedAt)
		f.Records = append(f.Records, t.ref(t.Stopped))
	}
	return f
}

// shardNumber returns the number of a shard that is counted from 1, nil for 0.
func shardNumber(n int) *int {
	if n == 0 {
		return nil
	}
	n--
	return &n
}

func (r *Report) nodeFact(l *Log, n *node) Fact {
	f := Fact{Type: "node", Log: l.Name, Node: n.path, Token: n.czxid, From: r.at(l, n.at),
		Records: []Ref{{l.Name, n.seq}}}
	if n.session != nil {
		f.Session = hex(n.session.id)
	}
	if end := r.h.endOf(n.path, n.czxid); end != nil {
		t := time.UnixMilli(end.ended.Time).Add(time.Duration(r.byClock.shift)).UTC()
		f.To, f.Zxid = &t, hex(end.ended.Zxid)
	}
	return f
}

// fact is about the work of two terms. Between is from the end of the earlier work to the beginning of the later term.
func (o Overlap) fact(path string) Fact {
	f := Fact{Type: "work", Path: path, Participant: o.Earlier.who(), Token: o.Earlier.Token, Next: o.Later.who(),
		NextToken: o.Later.Token,
		Work:      WorkAlone, Both: o.Both, Error: o.Error, Text: o.Open}
	switch {
	case o.Both > 0:
		f.Work = WorkTwo
	case o.Open != "":
		f.Work = WorkUnknown
	}
	if o.Known {
		f.Between = o.After
	}
	return f
}

func (r *Report) moveFact(m Move) Fact {
	f := Fact{Type: "move", Path: m.Path, Story: r.story(m), NodeEnd: m.NodeEnd, Also: m.Also,
		Shard: shardNumber(m.shard())}
	if t := m.From; t != nil {
		f.Log, f.Participant, f.Token = t.Log.Name, t.who(), t.Token
		f.Cause, f.Long, f.From = m.Ending.Cause, m.Ending.Long, r.at(t.Log, m.Ending.At)
	}
	if t := m.To; t != nil {
		if p := m.Permits; p != nil {
			f.Permits, f.Maybe, f.Limit, f.Certainty, f.How = p.Held+p.Own, p.Maybe, p.Limit, p.Certainty, p.How
		}
		f.Next, f.NextToken, f.Row, f.To = t.who(), t.Token, t.Row, r.at(t.Log, t.ElectedAt)
	}
	return f
}

func (t Trouble) fact() Fact {
	at := time.Unix(0, t.at).UTC()
	return Fact{Type: "trouble", Path: t.Path, Log: t.Log.Name, Participant: t.Participant, From: &at, Cause: t.Cause,
		Code: t.Code, Text: oneLine(t.Text), Records: []Ref{t.Record}}
}

// itemFacts returns what a log has of items: a fact for each owner.
func (r *Report) itemFacts(l *Log) (all []Fact) {
	for _, w := range l.items {
		for _, s := range w.shares {
			f := Fact{Type: string(w.kind), Path: l.machineOf(w.machine).path, Log: l.Name,
				Participant: l.nameOf(w.machine), From: r.at(l, w.at), Items: s.items, Owner: s.owner,
				Records: []Ref{{l.Name, w.asked}, {l.Name, w.answered}}}
			if w.code != events.OK {
				f.Type, f.Code, f.Node, f.How = itemsRefused, w.code, w.refused, string(w.kind)
			}
			all = append(all, f)
		}
	}
	return all
}
