package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// Picture is a report as values that a page draws: lanes of participants, the ensemble's
// transactions, what caused what in another log, and the sentences. All times are microseconds
// since 1970 by the clock that the report shows; 0 is unknown.
type Picture struct {
	Verdict  Verdict          `json:"verdict"`
	Headline string           `json:"headline"` // the first of Lines
	Lines    []string         `json:"lines"`    // directories with terms, or with nodes if there are no terms
	Moves    []PictureMove    `json:"moves"`
	Doubts   []Sentence       `json:"doubts"`
	Work     WorkVerdict      `json:"work,omitempty"`
	Writes   WritesVerdict    `json:"writes,omitempty"`
	Summary  []LineSummary    `json:"summary"`           // of each line with moves, those in trouble first
	Earlier  int              `json:"earlier,omitempty"` // moves that were not asked for
	Logs     []PictureLog     `json:"logs"`
	Txns     []PictureTxn     `json:"txns"` // in the order of their zxids
	Links    []PictureLink    `json:"links"`
	Machines []PictureMachine `json:"machines"`
	Groups   []PictureShards  `json:"groups"`
}

// PictureMove is one change of leadership.
type PictureMove struct {
	Line  string     `json:"line"`
	From  int64      `json:"from"`
	To    int64      `json:"to"`
	Cause Cause      `json:"cause,omitempty"`
	Title string     `json:"title"` // "alice → bob"
	Story []Sentence `json:"story"`
	At    Ref        `json:"at"` // the record to begin with
	// Nobody says for how long nobody had the right, "" if that is not known.
	Nobody string `json:"nobody,omitempty"`
	Two    bool   `json:"two,omitempty"`
	Open   bool   `json:"open,omitempty"` // whether two had the right to believe is not known
}

// PictureLog is one client. Clock has points of its clock: a reading since the log's start, in
// microseconds, and the time that is shown for it. Between two points time is linear.
type PictureLog struct {
	Name      string     `json:"name"`
	Clock     [][2]int64 `json:"clock"`
	Cut       bool       `json:"cut,omitempty"` // the session machine was not closed by the end of the log
	Connected []Span     `json:"connected"`
	Pauses    []Span     `json:"pauses"`
	Gaps      []Span     `json:"gaps"`
}

// PictureMachine is one participant: its nodes and terms in one line.
type PictureMachine struct {
	Log     int    `json:"log"` // an index of Picture.Logs
	Machine string `json:"machine"`
	Who     string `json:"who"`
	Line    string `json:"line"`
	Nodes   []Span `json:"nodes"` // To 0: it stood when the log ended
	Right   []Span `json:"right"` // when it might believe
	// from when its work heard that it leads until it heard of the end; To 0: it did not
	Heard []Span `json:"heard"`
	Work  []Span `json:"work"` // when work ran on after that
	// of a double barrier: from entering it until it began to leave; To 0: it did not
	Inside []Span `json:"inside,omitempty"`
}

// Span is a time, and the record that shows it.
type Span struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Record uint64 `json:"record,omitempty"`
	Text   string `json:"text,omitempty"`
}

// PictureTxn is one transaction of the ensemble: from its own log, at one moment; or from the
// clients' records, between when a request was sent and when it was answered.
type PictureTxn struct {
	Zxid  string `json:"zxid"`
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Kind  string `json:"kind"` // "create", "delete", "expired", "closed", "opened", "set"
	Text  string `json:"text"`
	Exact bool   `json:"exact,omitempty"`
	zxid  int64
}

// PictureLink is a cause in another log: the transaction or the record by which another came.
// One of Zxid and Record is set on each side.
type PictureLink struct {
	Effect PictureEnd `json:"effect"`
	Cause  PictureEnd `json:"cause"`
	How    string     `json:"how"`
}

// PictureEnd is a record or a transaction.
type PictureEnd struct {
	Log  string `json:"log,omitempty"`
	Seq  uint64 `json:"seq,omitempty"`
	Zxid string `json:"zxid,omitempty"`
}

// maxKnots is how many points of a log's clock are in a picture.
const maxKnots = 200

// painter makes a picture.
type painter struct {
	*Report
	knots   map[*Log][][2]int64
	index   map[*Log]int
	gone    map[string]seenGone       // by path
	deleted map[string]deletedBy      // by path: the first client that had it deleted
	written map[int64]map[*Log]uint64 // by zxid: the record of the answer to a write
	ended   map[int64][]string        // by zxid: nodes that went with it
	closed  map[int64]*txnlog.Txn     // by session
}

// deletedBy is a deletion, and the client that asked for it.
type deletedBy struct {
	log *Log
	deletion
}

// Picture returns the report as values that a page draws.
func (r *Report) Picture() Picture {
	p := &painter{Report: r, knots: map[*Log][][2]int64{}, index: map[*Log]int{}}
	pic := Picture{Verdict: r.Verdict, Work: r.Work, Writes: r.Writes.Verdict, Summary: some(r.Summaries),
		Headline: r.verdictLine(), Doubts: some(append(r.LeftOut(), capitals(r.Doubts, 0)...)), Earlier: r.Earlier,
		Logs: []PictureLog{}}
	for i, l := range r.logs {
		p.index[l] = i
		p.knots[l] = p.knotsOf(l)
	}
	p.findEnds()
	for _, l := range r.logs {
		pic.Logs = append(pic.Logs, p.log(l))
	}
	pic.Machines = some(p.window.keptOf(p.machines()))
	pic.Groups = p.groups()
	pic.Lines = some(linesOf(pic.Machines))
	for _, m := range merged(r.Moves) {
		if p.window.has(m.Move) {
			pic.Moves = append(pic.Moves, p.move(m))
		}
	}
	pic.Moves = some(pic.Moves)
	pic.Txns = some(p.txns())
	pic.Links = some(p.links(pic.Txns))
	return pic
}

// some returns a list that is written as [] if it is empty.
func some[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// capitals returns sentences with a capital letter at their beginning: the first ones as they are.
func capitals(all []Sentence, asTheyAre int) []Sentence {
	with := slices.Clone(some(all))
	for i := asTheyAre; i < len(with); i++ {
		with[i].Text = capital(with[i].Text)
	}
	return with
}

// knotsOf returns points of a log's clock. Their times never go back.
func (p *painter) knotsOf(l *Log) (all [][2]int64) {
	step := max(1, l.recs.len()/maxKnots)
	last := int64(0)
	add := func(at int64) {
		last = max(last, p.Report.wall(l, at)/micro)
		all = append(all, [2]int64{(at - l.Header.StartAt) / micro, last})
	}
	for i := 0; i < l.recs.len(); i += step {
		add(l.recs.at(i).at)
	}
	if n := l.recs.len(); n > 0 && (n-1)%step != 0 {
		add(l.recs.at(n - 1).at)
	}
	return some(all)
}

// shown returns the time that is shown for a reading of a log's clock.
func (p *painter) shown(l *Log, at int64) int64 {
	knots, x := p.knots[l], (at-l.Header.StartAt)/micro
	if len(knots) == 0 {
		return p.Report.wall(l, at) / micro
	}
	i, found := slices.BinarySearchFunc(knots, x, func(k [2]int64, x int64) int { return cmp.Compare(k[0], x) })
	switch {
	case found:
		return knots[i][1]
	case i == 0:
		return knots[0][1] + x - knots[0][0]
	case i == len(knots):
		return knots[i-1][1] + x - knots[i-1][0]
	}
	a, b := knots[i-1], knots[i]
	return a[1] + int64(float64(x-a[0])/float64(b[0]-a[0])*float64(b[1]-a[1]))
}

func (p *painter) span(l *Log, from, to int64, record uint64, text string) Span {
	return Span{p.shown(l, from), p.shown(l, to), record, text}
}

// log returns what a client's lanes share.
func (p *painter) log(l *Log) PictureLog {
	pic := PictureLog{Name: l.Name, Clock: p.knots[l], Cut: !l.closed, Connected: []Span{},
		Pauses: []Span{}, Gaps: []Span{}}
	for _, s := range l.sessions {
		for _, a := range s.attached {
			end := p.connectedUntil(l, s, a)
			pic.Connected = append(pic.Connected, p.span(l, a.at, end, a.seq, oneLine(a.server)+", session "+hex(s.id)))
		}
	}
	for _, h := range l.pauses {
		pic.Pauses = append(pic.Pauses, p.span(l, h.at-int64(h.long), h.at, h.seq, "did not run for "+span(h.long)))
	}
	for _, g := range l.gaps {
		to := cmp.Or(g.after, l.last)
		pic.Gaps = append(pic.Gaps,
			p.span(l, g.before, to, 0, plural(int(g.gap.Count), "record")+" missing: "+oneLine(g.gap.Why)))
	}
	return pic
}

// connectedUntil returns when a connection ended, as far as the log shows.
func (p *painter) connectedUntil(l *Log, s *session, a attach) int64 {
	if lost := s.nextSuspended(a.at); lost != nil {
		return lost.at
	}
	end := l.last
	if s.lost != nil {
		end = min(end, s.lost.at)
	}
	if s.closed != 0 {
		end = min(end, l.rec(s.closed).at)
	}
	return max(end, a.at)
}

func (p *painter) move(m shardMove) PictureMove {
	pic := PictureMove{Line: m.Path, Story: capitals(p.story(m.Move), 1), Title: "nobody"}
	if t := m.From; t != nil {
		pic.Title, pic.Cause, pic.From, pic.At = t.who(), m.Ending.Cause, p.shown(t.Log, m.Ending.At),
			t.ref(cmp.Or(t.Stopped, t.Log.lastSeq))
	}
	switch t := m.To; {
	case t != nil:
		pic.Title += " → " + t.who()
		pic.To, pic.At = p.shown(t.Log, t.ElectedAt), t.ref(t.Elected)
		pic.Nobody = p.nobody(m.Move)
	case m.Ending.Cause == CauseLeads:
		pic.Title += " leads"
	default:
		pic.Title += " → nobody"
	}
	if len(m.shards) > 0 {
		pic.Title = shardsText(m.shards) + ": " + pic.Title
	}
	if pic.From == 0 {
		pic.From = pic.To
	}
	if pic.To == 0 {
		pic.To = pic.From
	}
	for _, proof := range m.Proofs {
		pic.Two = pic.Two || proof.Certainty == Both
		pic.Open = pic.Open || proof.Certainty == Unknown
	}
	return pic
}

// linesOf returns the directories that have terms, or else those that have nodes.
func linesOf(all []PictureMachine) (dirs []string) {
	for _, terms := range []bool{true, false} {
		for _, m := range all {
			if !slices.Contains(dirs, m.Line) && (len(m.Right)+len(m.Inside) > 0) == terms {
				dirs = append(dirs, m.Line)
			}
		}
		if len(dirs) > 0 {
			break
		}
	}
	slices.Sort(dirs)
	return dirs
}

// timeOf returns a transaction's time in microseconds.
func (p *painter) timeOf(t *txnlog.Txn) int64 {
	return time.UnixMilli(t.Time).UnixMicro() + p.byClock.shift/int64(time.Microsecond)
}

// nobody says for how long nobody had the right in a move, "" if the logs do not show it.
func (r *Report) nobody(m Move) string {
	if m.From == nil || m.To == nil || m.Permits != nil || len(m.strange) > 0 {
		return ""
	}
	gap := r.h.gapBounds(m.From, m.To)
	if !gap.known() || gap.mid() <= 0 {
		return ""
	}
	return "nobody for " + between(time.Duration(gap.lo), time.Duration(gap.hi))
}

// stays adds the times inside to a participant.
func (p *painter) stays(m *PictureMachine, l *Log, all []*stay) {
	for _, s := range all {
		one := p.span(l, s.at, max(s.until, s.at), s.seq, "inside")
		if s.until == 0 {
			one.To = 0
		}
		m.Inside = append(m.Inside, one)
	}
}

// kept leaves out the spans that are not in the window.
func (w *Window) kept(all []Span) []Span {
	if w == nil {
		return all
	}
	left := all[:0]
	for _, s := range all {
		if w.hasSpan(s.From, s.To) {
			left = append(left, s)
		}
	}
	return left
}

// keptOf leaves out of participants what is not in the window, and those that have nothing in it.
func (w *Window) keptOf(all []PictureMachine) []PictureMachine {
	if w == nil {
		return all
	}
	left := all[:0]
	for _, m := range all {
		m.Nodes, m.Right, m.Heard, m.Work, m.Inside = w.kept(m.Nodes), w.kept(m.Right), w.kept(m.Heard),
			w.kept(m.Work), w.kept(m.Inside)
		if len(m.Nodes)+len(m.Right)+len(m.Heard)+len(m.Work)+len(m.Inside) > 0 {
			left = append(left, m)
		}
	}
	return left
}
