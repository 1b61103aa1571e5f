package elasticjob

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// run is one run of an item, in milliseconds since 1970. An end of 0 means that it goes on.
type run struct {
	by         string
	item       int
	begin, end int64
}

// runs returns all runs so far, in the order of their beginnings.
func (s *stage) runs() (all []run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, said := range s.said {
		if len(said.words) != 3 {
			continue
		}
		item, _ := strconv.Atoi(said.words[1])
		at, _ := strconv.ParseInt(said.words[2], 10, 64)
		switch said.words[0] {
		case "run":
			all = append(all, run{by: said.by, item: item, begin: at})
		case "done", "gone":
			for n := range all {
				if r := &all[n]; r.by == said.by && r.end == 0 && (r.item == item || said.words[0] == "gone") {
					r.end = at
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b run) int { return int(a.begin - b.begin) })
	return all
}

// checkOverlaps fails the test where an item ran twice at a time, and returns how often that happened without a fault:
//
//   - An instance in Java that is cut off, or closes, goes on with what it has: its session ends before its items
//     return.
//   - Just after a dealing, an instance in Java may not have heard of it, and run an item that was its own. It does not
//     notice that the node running exists when it creates it. So may two of them, and an instance in Java and one in Go
//     whose own the item is.
func (s *stage) checkOverlaps() (excused int) {
	s.t.Helper()
	all := s.runs()
	for n, a := range all {
		for _, b := range all[n+1:] {
			if a.item != b.item || a.end != 0 && b.begin >= a.end {
				continue
			}
			pair := [2]run{{by: a.by, item: a.item, begin: a.begin}, {by: b.by, item: b.item, begin: b.begin}}
			fair, known := s.judged[pair]
			if !known {
				fair = s.fair(a, b)
				s.judged[pair] = fair
			}
			if fair {
				excused++
				continue
			}
			s.t.Errorf("item %d ran twice at a time: %s from %d to %d, and %s from %d; its owners were %v",
				a.item, s.called(a.by), a.begin, a.end, s.called(b.by), b.begin, s.owners.all[a.item])
		}
	}
	return excused
}

// fair reports whether two runs of an item at a time are no fault of this library.
func (s *stage) fair(runs ...run) bool {
	java := 0
	for _, r := range runs {
		switch {
		case s.inJava(r.by):
			java++
		case !s.owners.own(r):
			return s.cutOff[runs[0].by] && s.inJava(runs[0].by) || s.cutOff[runs[1].by] && s.inJava(runs[1].by)
		}
	}
	return java > 0
}

func (s *stage) inJava(id string) bool { return s.called(id)[0] == byte(inJava) }

// called returns an instance's name and id.
func (s *stage) called(id string) string {
	for _, i := range s.instances {
		if strings.HasPrefix(id, i.ip+"@") {
			return i.name + " " + id
		}
	}
	return id
}

// settled is how the job came to be whole.
type settled struct {
	first int64 // the beginning of the first period that was whole, in milliseconds since 1970
	twice int   // items that ran twice in one period before

	overlaps int // so far, items that ran twice at a time, without a fault
}

// whole waits until the job is whole: there have been so many periods in a row, all after an instant, in which
// every item ran exactly once, where its owner is, and the leader and all owners live and are not disabled. It
// returns how it came.
func (s *stage) whole(what string, after time.Time, periods int) settled {
	s.t.Helper()
	var found settled
	why := "nothing has run"
	deadline := time.AfterFunc(within-10*time.Second, func() { s.hear("test", "late") })
	defer deadline.Stop()
	s.await(s.now(), what, func(said saying) bool {
		switch {
		case said.words[0] == "late" && said.by == "test":
			s.t.Errorf("%s: the job is not whole: %s", what, why)
			s.t.Fatal(s.picture())
		case said.words[0] != "run":
			return false
		}
		first, reason := s.wholePeriods(after, periods)
		if reason == "" {
			reason = s.wholeTree(first)
			if reason == "" {
				reason = s.withoutShare()
				s.remind(reason, first)
			}
		}
		if reason != "" {
			why = reason
			return false
		}
		found = settled{first: first, twice: s.twice(after, first)}
		return true
	})
	found.overlaps = s.checkOverlaps()
	if s.t.Failed() {
		s.t.FailNow()
	}
	return found
}

// wholePeriods returns the beginning of the first of the last periods, if every item ran once in each, or why
// not. The period in which the last run began is not over, so it does not count.
func (s *stage) wholePeriods(after time.Time, periods int) (first int64, why string) {
	all := s.runs()
	if len(all) == 0 {
		return 0, "nothing has run"
	}
	length := s.period.Milliseconds()
	last := all[len(all)-1].begin / length
	first = (last - int64(periods)) * length
	if first <= after.UnixMilli() {
		return 0, "too few periods are over"
	}
	count := map[[2]int64]int{}
	for _, r := range all {
		count[[2]int64{r.begin / length, int64(r.item)}]++
	}
	for p := last - int64(periods); p < last; p++ {
		for item := range s.total {
			if n := count[[2]int64{p, int64(item)}]; n != 1 {
				return 0, fmt.Sprintf("item %d ran %d times in the period from %d", item, n, p*length)
			}
		}
	}
	return first, ""
}

// wholeTree returns what is wrong with the job's nodes: they have to agree with the runs since an instant.
func (s *stage) wholeTree(since int64) string {
	leader, led := s.get(s.node("leader", "election", "instance"))
	if i := s.byID(leader); !led || i == nil || s.disabled[i.ip] {
		return fmt.Sprintf("the leader is %q", leader)
	}
	for _, flag := range []string{"necessary", "processing"} {
		if _, there := s.get(s.node("leader", "sharding", flag)); there {
			return flag + " exists"
		}
	}
	for item := range s.total {
		owner, there := s.get(s.node("sharding", strconv.Itoa(item), "instance"))
		i := s.byID(owner)
		if !there || i == nil || s.disabled[i.ip] {
			return fmt.Sprintf("item %d belongs to %q", item, owner)
		}
		for _, r := range s.runs() {
			if r.item == item && r.begin >= since && r.by != owner {
				return fmt.Sprintf("item %d ran at %s, and belongs to %s", item, s.called(r.by), s.called(owner))
			}
		}
	}
	if _, there := s.get(s.node("sharding", strconv.Itoa(s.total))); there {
		return fmt.Sprintf("there is an item %d", s.total)
	}
	return ""
}

// withoutShare returns which instance has too few items, and what it has.
func (s *stage) withoutShare() string {
	owners := map[string]int{}
	for item := range s.total {
		owner, _ := s.get(s.node("sharding", strconv.Itoa(item), "instance"))
		owners[owner]++
	}
	for _, i := range s.instances {
		if share := s.total / max(1, s.able()); i.runs() && !s.disabled[i.ip] && owners[i.id] < share {
			return fmt.Sprintf("%s has %d items, and the least is %d", s.called(i.id), owners[i.id], share)
		}
	}
	return ""
}

// remind sets the flag necessary again when a leader in Java has left an instance out for three whole periods: after it
// has dealt, ElasticJob deletes the flag, although an instance may have come meanwhile and set it.
func (s *stage) remind(reason string, period int64) {
	leader, _ := s.get(s.node("leader", "election", "instance"))
	if reason == "" || leader == "" || !s.inJava(leader) {
		s.leftOut = 0
		return
	}
	if s.leftOut == 0 {
		s.leftOut = period
	}
	if period-s.leftOut < 3*s.period.Milliseconds() {
		return
	}
	s.leftOut = 0
	s.reminders, s.reminded = s.reminders+1, true
	if _, there := s.get(s.node("leader", "sharding", "necessary")); !there {
		s.create(s.node("leader", "sharding", "necessary"), "")
	}
}

// able returns how many instances may have items.
func (s *stage) able() (n int) {
	for _, i := range s.instances {
		if i.runs() && !s.disabled[i.ip] {
			n++
		}
	}
	return n
}

// twice counts the items that ran twice in one period between an instant and another: that may be while items are
// dealt or taken over.
func (s *stage) twice(after time.Time, until int64) (n int) {
	length := s.period.Milliseconds()
	count := map[[2]int64]int{}
	for _, r := range s.runs() {
		if r.begin < after.UnixMilli() || r.begin >= until {
			continue
		}
		if count[[2]int64{r.begin / length, int64(r.item)}]++; count[[2]int64{r.begin / length, int64(r.item)}] == 2 {
			n++
		}
	}
	return n
}

// picture returns the job's nodes and the last runs, for a test that gives up.
func (s *stage) picture() string {
	var b strings.Builder
	s.draw(&b, strings.TrimSuffix(s.node(), "/"))
	all := s.runs()
	for _, r := range all[max(0, len(all)-40):] {
		fmt.Fprintf(&b, "%d-%d item %d at %s\n", r.begin, r.end, r.item, s.called(r.by))
	}
	return b.String()
}

func (s *stage) draw(b *strings.Builder, path string) {
	data, stat, err := s.conn.Get(path)
	if err != nil {
		return
	}
	fmt.Fprintf(b, "%s %q", path, data[:min(len(data), 60)])
	if stat.EphemeralOwner != 0 {
		fmt.Fprintf(b, " of session %x", stat.EphemeralOwner)
	}
	b.WriteString("\n")
	children, _, err := s.conn.Children(path)
	if err != nil {
		return
	}
	slices.Sort(children)
	for _, name := range children {
		s.draw(b, path+"/"+name)
	}
}
