package why

import (
	"cmp"
	"maps"
	"slices"

	"github.com/incumbent-go/incumbent/machines"
)

// PictureShards is a group of members that share shards. Times in Terms and Plans are microseconds since Since.
type PictureShards struct {
	Line    string          `json:"line"`
	Shards  int             `json:"shards"`
	Members []PictureMember `json:"members"`
	Since   int64           `json:"since"`
	// Terms has termLength numbers for each time in which a member might believe that a shard is its own: the shard,
	// the member, from when; for how long it surely might, and at most; after how long it was to stop, and its
	// work had returned; the token; the first record and the last; and a TermMark. -1 is unknown.
	Terms []int64 `json:"terms"`
	// Plans has five numbers for each change of the assignment: the shard, the member that it is assigned to, or
	// -1, when a client saw it first, and the log and record of that.
	Plans []int64 `json:"plans"`
	Two   bool    `json:"two,omitempty"` // a shard had two owners at once
}

// PictureMember is a member of a group. Log is -1 if its log is not there.
type PictureMember struct {
	Log     int    `json:"log"`
	Machine string `json:"machine"`
	Who     string `json:"who"`
}

// TermMark says how a member's time with a shard relates to that of the owner before.
type TermMark = int64

// Marks.
const (
	TermApart TermMark = iota // one after the other, or there was no other owner before
	TermOpen                  // it is not known
	TermTwo                   // both might believe at once
)

// mostAssigned is how many shards the assignments in a picture have at most, all together.
const mostAssigned = 400_000

// groups returns the groups of a picture, in the order of their paths.
func (p *painter) groups() (all []PictureShards) {
	terms := map[string][]*Term{}
	for _, l := range p.logs {
		for _, t := range l.terms {
			if t.machine().shard != 0 {
				terms[t.group()] = append(terms[t.group()], t)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(terms)) {
		all = append(all, p.group(path, terms[path]))
	}
	return some(all)
}

// group returns a group. Terms are those of all its shards.
func (p *painter) group(path string, terms []*Term) PictureShards {
	pic := PictureShards{Line: path, Members: []PictureMember{}, Terms: []int64{}, Plans: []int64{}}
	slices.SortStableFunc(terms, func(a, b *Term) int {
		return cmp.Or(cmp.Compare(a.machine().shard, b.machine().shard), cmp.Compare(a.Token, b.Token))
	})
	nodes := map[string]int64{}
	for _, l := range p.logs { // members in the order of the logs
		for _, t := range terms {
			if _, known := nodes[baseOf(t.Node)]; t.Log != l || known {
				continue
			}
			who := PictureMember{p.index[l], string(t.machine().member), t.who()}
			if !slices.Contains(pic.Members, who) {
				pic.Members = append(pic.Members, who)
			}
			nodes[baseOf(t.Node)] = int64(slices.Index(pic.Members, who))
		}
	}
	for _, t := range terms {
		if at := p.shown(t.Log, t.ElectedAt); pic.Since == 0 || at < pic.Since {
			pic.Since = at
		}
	}
	for i, t := range terms {
		pic.Shards = max(pic.Shards, t.machine().shard)
		mark := TermApart
		if i > 0 && terms[i-1].machine().shard == t.machine().shard && terms[i-1].owner() != t.owner() {
			mark = p.apart(terms[i-1], t)
		}
		pic.Two = pic.Two || mark == TermTwo
		if p.window.hasTerm(p.index[t.Log], t) {
			pic.Terms = append(pic.Terms, p.shardTerm(t, nodes[baseOf(t.Node)], pic.Since, mark)...)
		}
	}
	p.plans(&pic, nodes)
	return pic
}

// owner identifies the member that owned a shard.
func (t *Term) owner() machineKey { return machineKey{log: t.Log, machine: t.machine().member} }

// apart compares two owners of a shard. Of a log with a gap only clocks would tell.
func (p *painter) apart(a, b *Term) TermMark {
	proof := p.h.compare(a, b)
	switch {
	case proof.Certainty == Proven:
		return TermApart
	case proof.Certainty == Unknown, logsOf(proof).holed():
		return TermOpen
	case proof.Certainty == Both:
		return TermTwo
	}
	return TermApart
}

// shardTerm returns the numbers of a time in which a member might own a shard.
func (p *painter) shardTerm(t *Term, member, since int64, mark TermMark) []int64 {
	from := p.shown(t.Log, t.ElectedAt)
	after := func(at int64) int64 { return max(0, p.shown(t.Log, at)-from) }
	right, stopped, done := after(t.rightUntil()), int64(-1), int64(-1)
	sure := right
	switch {
	case t.Open():
		sure = min(right, after(t.Log.last))
	case t.workDoneAt != 0:
		stopped, done = after(t.StoppedAt), after(t.workDoneAt)
	case t.worksLeft == 0:
		stopped, done = after(t.StoppedAt), after(t.StoppedAt)
	default:
		stopped = after(t.StoppedAt)
	}
	return []int64{int64(t.machine().shard) - 1, member, from - since, sure, right, stopped, done, t.Token,
		int64(t.Elected), int64(t.Stopped), mark}
}

// plans adds how the assignment changed to a group.
func (p *painter) plans(pic *PictureShards, nodes map[string]int64) {
	before := make([]int64, machines.MaxShards)
	for i := range before {
		before[i] = -1
	}
	assigned := 0
	for _, plan := range p.h.plansOf(pic.Line) {
		if assigned += plan.shards; assigned > mostAssigned {
			return
		}
		pic.Shards = max(pic.Shards, plan.shards)
		at, log := p.shown(plan.log, plan.at)-pic.Since, p.index[plan.log]
		given := machines.ShardPlan{Shards: plan.shards, Owners: plan.owners}
		for shard, node := range given.Assigned() {
			member := memberOf(pic, nodes, node, plan)
			if member != before[shard] && p.window.hasRecord(log, plan.seq) {
				pic.Plans = append(pic.Plans, int64(shard), member, at, int64(log), int64(plan.seq))
			}
			before[shard] = member
		}
	}
}

// memberOf returns the member whose node this is; one without a log is added. It is -1 for no node.
func memberOf(pic *PictureShards, nodes map[string]int64, node string, p *groupPlan) int64 {
	if node == "" {
		return -1
	}
	n, known := nodes[node]
	if !known {
		n = int64(len(pic.Members))
		pic.Members = append(pic.Members, PictureMember{-1, "", p.name(node)})
		nodes[node] = n
	}
	return n
}
