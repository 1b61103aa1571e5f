package why

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
	"github.com/incumbent-go/incumbent/test/kit/effects"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// spared is what is left of the logs of a world: some are missing, some are cut, some are of another ensemble.
type spared struct {
	*simulated
	skips int  // participants that were said to be skipped
	job   bool // a job's election, not a latch
	logs  []*Log
	lacks string // what is missing, for a failure
	of    map[*Log]int
	until map[int]int64 // until when a client's log is there, by the world's clock
}

func spare(t *testing.T, seed uint64) *spared {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 38))
	path := "/jobs/" + odd[dice.IntN(len(odd))]
	var names [3]string
	for i := range names {
		names[i] = fmt.Sprint(odd[dice.IntN(len(odd))], i)
	}
	who := cast{"latch", path, names, seed%2 == 0}
	if seed%4 == 3 {
		who.recipe = "jobelection"
	}
	s := &spared{simulated: newSimulatedAt(t, seed, false, who), job: who.recipe != "latch",
		of: map[*Log]int{}, until: map[int]int64{}}
	for _, c := range s.Clients() {
		all := len(s.records[c.ID()])
		kept, damage := all, ""
		switch dice.IntN(16) {
		case 0, 1:
			s.lacks += fmt.Sprintf(", client%d's log", c.ID())
			continue
		case 2, 3:
			kept = 1 + dice.IntN(all)
			s.lacks += fmt.Sprintf(", records of client%d from %d of %d on", c.ID(), kept, all)
		case 4:
			kept, damage = 1+dice.IntN(all), "a line was changed"
			s.lacks += fmt.Sprintf(", records of client%d from %d of %d on, which are damaged", c.ID(), kept, all)
		}
		l := s.log(t, c, kept)
		l.Damage, l.Header.Servers = damage, []string{"zk1:2181"}
		s.logs, s.of[l], s.until[c.ID()] = append(s.logs, l), c.ID(), l.last-s.ahead(c)
		if kept == all && damage == "" {
			s.until[c.ID()] = endless
		}
	}
	if dice.IntN(4) == 0 {
		for _, l := range newSimulatedAt(t, seed+1000, false, who).logs(t)[:1] {
			l.Name, l.Header.Servers = "foreign", []string{[]string{"other:2181", "zk1:2181"}[seed/4%2]}
			s.logs = append(s.logs, l)
			s.lacks += ", and there is one of another ensemble"
		}
	}
	dice.Shuffle(len(s.logs), func(i, j int) { s.logs[i], s.logs[j] = s.logs[j], s.logs[i] })
	return s
}

// end returns the time of the last record that a log has.
func (s *spared) end() int64 {
	end := -endless
	for l, client := range s.of {
		end = max(end, l.last-s.ahead(s.Clients()[client]))
	}
	return end
}

// missed returns a term that no log has, and that began between the first and the last of those that one has.
func (s *spared) missed() string {
	first, last := endless, -endless // of the terms that a log has
	has := func(b *belief) bool {
		until, there := s.until[b.client]
		return there && b.from <= until
	}
	for _, b := range s.beliefs {
		if has(b) {
			first, last = min(first, b.from), max(last, b.from)
		}
	}
	for _, b := range s.beliefs {
		if !has(b) && b.from > first && b.from < last {
			return fmt.Sprintf("the term of client%d with token %d is in no log", b.client, b.token)
		}
	}
	return ""
}

// ledBetween returns who led between two terms of a move that says that nobody did; "" for nobody.
func (s *spared) ledBetween(m *Move) string {
	if len(m.Proofs) == 0 || len(m.strange) > 0 || m.From == nil || m.To == nil || m.Proofs[0].Earlier != m.From {
		return ""
	}
	p := m.Proofs[0]
	if p.Certainty != Proven && p.Certainty != Measured || p.Error < 0 || p.Between <= p.Error {
		return ""
	}
	clients := s.Clients()
	a, known := s.of[m.From.Log]
	b, knownToo := s.of[m.To.Log]
	if !known || !knownToo {
		return ""
	}
	from, to := m.Ending.At-s.ahead(clients[a])+1, m.To.ElectedAt-s.ahead(clients[b])-1
	for _, led := range s.beliefs {
		if led.from < to && led.till > from {
			return fmt.Sprintf("client%d led with token %d", led.client, led.token)
		}
	}
	return ""
}

// below is a length of time that is less than 0.
var below = regexp.MustCompile(`(^|[ (])-[0-9.]+ (ms|s|min)\b`)

// whole reports whether all of a client's log is here: where it ends, the client died.
func (s *spared) whole(l *Log) bool {
	client, known := s.of[l]
	return known && s.until[client] == endless
}

// Whatever is missing, cut, damaged or foreign: what is stated is what was so in the world, or it is said that it is
// not known.
func TestWhatIsMissingMakesNothingFalse(t *testing.T) {
	said, missing, ofJobs, skips := map[Verdict]int{}, 0, map[Verdict]int{}, 0
	for seed := range uint64(selection.Of(t, "worlds", 100, 120, 400)) {
		s := spare(t, seed)
		var txns []txnlog.Txn
		if seed%3 == 0 {
			txns = s.txns
		}
		r := Explain(s.logs, txns, Options{})
		said[r.Verdict]++
		if s.job {
			ofJobs[r.Verdict]++
		}
		assumes := strings.HasPrefix(r.Why, assumes)
		never := r.Verdict == NeverProven || r.Verdict == NeverMeasured
		both := s.twoBefore(s.end())
		fail := func(what string) {
			t.Errorf("world %d (missing: %s): %s\n%s", seed, strings.TrimPrefix(s.lacks, ", "), what,
				strings.Join(r.Lines(true), "\n"))
		}
		if s.missed() != "" {
			missing++
		}
		switch {
		case never && !assumes && both > 0:
			fail(fmt.Sprintf("two led for %s", both))
		case r.Verdict == TwoAtOnce && both <= 0 && !strings.HasSuffix(r.Why, "only if their logs are of one ensemble"):
			fail("two never led at once")
		case r.Verdict == NeverProven && !assumes && s.missed() != "":
			fail(s.missed())
		}
		for _, line := range r.Lines(true) {
			if below.MatchString(line) {
				fail("a time is less than 0: " + line)
			}
		}
		for i := range r.Moves {
			if m := &r.Moves[i]; !m.assumesDeath() || s.whole(m.From.Log) {
				if who := s.ledBetween(m); who != "" {
					fail(who + " where nobody is said to have led: " + r.paragraph(m.Path, *m))
				}
			}
		}
		for _, line := range r.Summaries {
			if wrong := s.wrongSummary(line); wrong != "" {
				fail(wrong)
			}
		}
		skips += s.skips
		if t.Failed() {
			return
		}
	}
	t.Logf("%v, of jobs %v, a term is missing in %d, %d were skipped", said, ofJobs, missing, skips)
	if said[CannotTell] == 0 || said[NeverProven] == 0 || said[NeverMeasured] == 0 || missing == 0 ||
		ofJobs[CannotTell] == 0 || ofJobs[NeverProven] == 0 || skips == 0 {
		t.Errorf("%v, of jobs %v, a term is missing in %d, %d were skipped: all should occur", said, ofJobs,
			missing, skips)
	}
}

// The numbers of a directory that was created again do not show who was in line meanwhile, unless the transaction logs
// have all of that time.
func TestALineThatWasCreatedAgain(t *testing.T) {
	for number, want := range map[int]bool{3: true, 5: true, 6: false} {
		a, b := newCrafted(5, 100), newCrafted(9, 2100)
		a.stop(5, 300, events.CommandClose)
		was := b.own
		b.own = fmt.Sprintf("/l/_c_00000000-0000-0000-0000-000000000009-latch-%010d", number)
		for i, e := range b.records[1].Effects {
			b.records[1].Effects[i] = effects.Of(strings.Replace(e.String(), was, b.own, 1))[0]
		}
		r := explainOnOneHost(t, a, b)
		const said = "somebody in /l, which was created again meanwhile, may have led, and its client's log is not here"
		if is := r.Verdict == CannotTell && strings.HasPrefix(r.Why, said); is != want {
			t.Errorf("number %d: %s: %s", number, r.Verdict, r.Why)
		}
		var txns []txnlog.Txn
		for zxid := range int64(5) {
			txns = append(txns, txnlog.Txn{Zxid: zxid + 5, Session: 77})
		}
		if r := Explain(r.logs, txns, Options{}); strings.HasPrefix(r.Why, said) {
			t.Errorf("number %d, with all transactions: %s", number, r.Why)
		}
	}
}
