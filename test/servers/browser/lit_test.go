package browser

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/worlds/sim"
)

// moment is a record, and the state in which a replay has its machine after it.
type moment struct {
	Key   string       `json:"key"`
	State engine.State `json:"state"`
}

// moments replays a log with fresh machines. It returns the last record of each machine in each step.
func moments(name string, records []events.Record) (all []moment) {
	e := engine.New(true, machines.Recipes()...)
	for _, r := range records {
		if r.Internal {
			continue
		}
		e.Step(events.Envelope{To: r.Machine, Event: r.Event})
		step := e.Records()
		for i, done := range step {
			if e.State(done.Machine) != "" &&
				!slices.ContainsFunc(step[i+1:], func(later events.Record) bool {
					return later.Machine == done.Machine
				}) {
				all = append(all, moment{key(name, done.Seq), e.State(done.Machine)})
			}
		}
	}
	return all
}

// simulated returns the logs of a simulated world as a page, and what a replay says of all its records.
func simulated(t *testing.T, seed int64) (b []byte, all []moment) {
	t.Helper()
	var logs []*why.Log
	var rows []*page.Rows
	for i, records := range sim.Run(seed, sim.Options{Keep: true}).Logs {
		var text bytes.Buffer
		if err := sim.WriteLog(&text, records); err != nil {
			t.Fatal(err)
		}
		r, err := events.NewReader(&text)
		if err != nil {
			t.Fatal(err)
		}
		name := string(rune('a' + i))
		kept := page.Keep(r.Header, r, page.Whole)
		l, err := why.Read(name, r.Header, kept)
		if err != nil {
			t.Fatal(err)
		}
		logs, rows = append(logs, l), append(rows, kept)
		all = append(all, moments(name, records)...)
	}
	return html(t, why.Explain(logs, nil, why.Options{}), rows), all
}

// The state that is lit is the one in which a replay has the machine, at records drawn by chance; and the row that it
// took is lit.
func TestTheLitStateIsTheReplayedOne(t *testing.T) {
	if !shows(t) {
		return
	}
	const worlds, each = 2, 100
	browser := chromium(t)
	for seed := range worlds {
		b, all := simulated(t, int64(seed)+1)
		draw := rand.New(rand.NewPCG(uint64(seed), 7))
		draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:min(each, len(all))]
		asked, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		address := file(t, b)
		p := open(t, browser, address).shown()
		wrong := value[[]string](p, `(async all => {
			const wrong = [];
			for (const { key, state } of all) {
				const drawn = new Promise(resolve => addEventListener('hashchange', resolve, { once: true }));
				if (location.hash !== '#' + key) { location.hash = '#' + key; await drawn; }
				const lit = [...document.querySelectorAll('#chart g.lit[data-state]')].map(g => g.dataset.state).join();
				if (lit !== state) wrong.push(key + ' is ' + lit + ', not ' + state);
			}
			return wrong;
		})(`+string(asked)+`)`)
		for _, w := range wrong {
			t.Errorf("seed %d: %s", seed+1, w)
		}
		if len(all) < each {
			t.Errorf("seed %d has %d records only", seed+1, len(all))
		}
		p.quiet(address)
	}
}
