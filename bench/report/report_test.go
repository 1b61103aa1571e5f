package report

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/bench/driver"
	"github.com/incumbent-go/incumbent/bench/peer"
	"github.com/incumbent-go/incumbent/bench/stats"
)

var (
	floor = driver.Entrant{Program: "zookeeper", Recipe: "floor", Label: "floor"}
	lock  = driver.Entrant{Program: "zookeeper", Recipe: "lock", Label: "Lock"}
	latch = driver.Entrant{Program: "incumbent", Recipe: "latch", Label: "Latch"}
	other = driver.Entrant{Program: "other", Recipe: "latch", Label: "Other"}
	even  = driver.Entrant{Program: "other", Recipe: "even", Label: "Even"}
	dead  = driver.Entrant{Program: "dead", Recipe: "latch", Label: "Dead"}
)

// result has rounds in which the machine disturbs everybody alike: times differ by round, ratios hardly do.
func result(n int, others float64) *driver.Result {
	entrants := []driver.Entrant{floor, lock, latch, other, even, dead}
	r := &driver.Result{Scenario: driver.Scenario{Name: peer.Cycle, N: 10, Entrants: entrants},
		Failed: map[driver.Entrant]error{dead: errors.New("it broke\nat line 5")}}
	for i := range n {
		disturbed := 1 + float64(i)
		by := map[driver.Entrant]driver.Measurement{}
		for e, micros := range map[driver.Entrant]float64{floor: 50, lock: 100, latch: 200, other: 300,
			even: 185 + 5*float64(i%5)} {
			ns := micros * disturbed * 1e3
			by[e] = driver.Measurement{
				Samples: map[string][]float64{peer.Whole: {ns, ns, 0.9 * ns, 1.5 * ns, 0.8 * ns}},
				CPU:     2 * time.Millisecond, RSS: 64 << 20, Grown: 3 << 20}
		}
		m := by[latch]
		m.Mallocs = 2860
		by[latch] = m
		r.Rounds = append(r.Rounds, driver.Round{Others: others, By: by})
	}
	return r
}

func table(r *driver.Result) *Table {
	return &Table{
		Title: "Cycle", Metric: peer.Whole, Result: r, Lock: lock, Floor: floor, Ours: "incumbent", Expense: true,
		Counts: map[driver.Entrant]driver.Count{latch: {Requests: 40, Bytes: 12_345}},
	}
}

func TestQuietRoundsAreRanked(t *testing.T) {
	text := table(result(9, 0.07)).Markdown()
	want := `#### Cycle

|  | p50, µs | p90, µs | × Lock | × floor | CPU, µs each | objects each | requests each | bytes each | RSS, MB |
|---|---|---|---|---|---|---|---|---|---|
| floor | 250 (100–400) | 325 | 0.50 (0.50–0.50) | 1.00 (1.00–1.00) | 200 | – | – | – | 64.0 |
| Lock | 500 (200–800) | 650 | 1.00 (1.00–1.00) | 2.00 (2.00–2.00) | 200 | – | – | – | 64.0 |
| Latch | 1,000 (400–1,600) | 1,300 | 2.00 (2.00–2.00) | 4.00 (4.00–4.00) | 200 | 286 | 4.00 | 1,234 | 64.0 |
| Even | 1,025 (380–1,560) | 1,332 | 1.95 (1.85–2.00) | 3.90 (3.70–4.00) | 200 | – | – | – | 64.0 |
| Other | 1,500 (600–2,400) | 1,950 | 3.00 (3.00–3.00) | 6.00 (6.00–6.00) | 200 | – | – | – | 64.0 |

9 rounds; others took 7 to 7 % of the machine.
Ahead of Latch: Lock (0.50 of its time). Level with it, as far as the rounds show: Even.
Dead failed: it broke.
`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestNoisyRoundsAreNotRanked(t *testing.T) {
	noisy := result(12, 0.4)
	for i := range 7 { // one too few
		noisy.Rounds[i].Others = 0.15
	}
	text := table(noisy).Markdown()
	if !strings.Contains(text,
		"**Unranked**: others took 15 to 40 % of the machine, at most 15 % in 7 of 12 rounds, and 8 such "+
			"rounds are needed.") {
		t.Errorf("got\n%s", text)
	}
	if strings.Contains(text, "head of") || strings.Contains(text, "Level") {
		t.Errorf("a comparison is drawn from noise:\n%s", text)
	}
	if floor, even := strings.Index(text, "| floor"), strings.Index(text, "| Even"); strings.Index(text, "| Other") >
		even || floor > even {
		t.Errorf("rows that are not ranked are not in the order of the entrants:\n%s", text)
	}
	noisy.Rounds[7].Others = 0.15
	if text := table(noisy).Markdown(); !strings.Contains(text, "8 rounds; others took 15 to 15 % of the machine.") ||
		!strings.Contains(text, "| Latch | 900 (200–1,600)") {
		t.Errorf("only the quiet rounds count, and got\n%s", text)
	}
}

func TestNoPeerAheadIsSaid(t *testing.T) {
	r := result(8, 0)
	for _, round := range r.Rounds {
		round.By[latch] = round.By[floor]
	}
	if text := table(r).Markdown(); !strings.Contains(text, "No peer is ahead of Latch.") {
		t.Errorf("got\n%s", text)
	}
}

// A figure of a whole run is in milliseconds. Without a floor it has no ratio to it. What grew is shown if it means
// something.
func TestOtherColumns(t *testing.T) {
	r := result(8, 0)
	r.Scenario.Alone = true
	whole := table(r)
	whole.PerRun, whole.Floor = true, driver.Entrant{}
	text := whole.Markdown()
	for _, want := range []string{
		"|  | p50, ms | p90, ms | × Lock | CPU, ms | objects | requests | bytes | RSS, MB | RSS grew by, MB |\n" +
			"|---|---|---|---|---|---|---|---|---|---|\n",
		"| Latch | 0.90 (0.20–1.60) | 1.46 | 2.00 (2.00–2.00) | 2.00 | 2,860 | 40.0 | 12,345 | 64.0 | 3.00 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %s in\n%s", want, text)
		}
	}
}

func TestNumbersAreShort(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.123: "0.12", 1.236: "1.24", 12.34: "12.3", 123.4: "123", 1234: "1,234", 12345678: "12,345,678",
		999.6: "1,000", -1234.5: "-1,234", math.NaN(): "–",
	} {
		if got := number(x, 3); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
	if got := Interval(stats.MedianInterval(nil, Confidence)); got != "–" {
		t.Errorf("no values are written %s", got)
	}
}
