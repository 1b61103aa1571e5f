// Package report writes what the driver measured as tables in Markdown.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/bench/driver"
	"github.com/incumbent-go/incumbent/bench/stats"
)

// Confidence is the least confidence of the intervals in the tables.
const Confidence = 0.95

// Table says how one figure of a scenario is shown.
type Table struct {
	Title   string
	Metric  string         // of package peer
	Result  *driver.Result // what was measured
	Counts  map[driver.Entrant]driver.Count
	Lock    driver.Entrant // the first unit of ratios
	Floor   driver.Entrant // the second; the zero Entrant for none
	Ours    string         // the program whose entrants the others are compared with
	Expense bool           // with CPU, allocations, requests, bytes and memory
	PerRun  bool           // expenses are those of a whole run, not of one of its N
}

// row is one entrant's figures.
type row struct {
	driver.Entrant
	p50     stats.Interval // of the rounds' medians, in microseconds
	p90     float64
	toLock  stats.Interval // of the rounds' ratios
	toFloor stats.Interval
	cpu     float64
	mallocs float64
	rss     float64
	grown   float64
}

// Markdown returns the table, and the sentences that belong to it.
func (t *Table) Markdown() string {
	rounds, ranked := t.Result.QuietRounds(), true
	if len(rounds) < driver.Enough {
		rounds, ranked = t.Result.Rounds, false
	}
	rows := t.rows(rounds)
	if ranked {
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.p50.Mid, b.p50.Mid) })
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#### %s\n\n", t.Title)
	t.head(&b)
	for _, r := range rows {
		t.line(&b, r)
	}
	b.WriteString("\n" + t.verdict(rounds, rows, ranked) + "\n")
	for _, e := range t.Result.Scenario.Entrants {
		if err := t.Result.Failed[e]; err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			fmt.Fprintf(&b, "%s failed: %s.\n", e.Label, first)
		}
	}
	return b.String()
}

func (t *Table) rows(rounds []driver.Round) (rows []row) {
	for _, e := range t.Result.Scenario.Entrants {
		each := perRound(rounds, e,
			func(m driver.Measurement) float64 { return stats.Median(m.Samples[t.Metric]) / 1e3 })
		if len(each) == 0 {
			continue
		}
		n, p90 := float64(t.Result.Scenario.N),
			stats.Median(perRound(rounds, e, func(m driver.Measurement) float64 {
				return stats.Quantile(m.Samples[t.Metric], 0.9) / 1e3
			}))
		if t.PerRun { // one sample a round
			n, p90 = 1, stats.Quantile(each, 0.9)
		}
		rows = append(rows, row{
			Entrant: e,
			p50:     stats.MedianInterval(each, Confidence),
			p90:     p90,
			toLock:  t.ratio(rounds, e, t.Lock),
			toFloor: t.ratio(rounds, e, t.Floor),
			cpu: stats.Median(perRound(rounds, e, func(m driver.Measurement) float64 {
				return float64(m.CPU.Nanoseconds()) / 1e3 / n
			})),
			mallocs: stats.Median(perRound(rounds, e, func(m driver.Measurement) float64 {
				return float64(m.Mallocs) / n
			})),
			rss: stats.Median(perRound(rounds, e, func(m driver.Measurement) float64 {
				return float64(m.RSS) / (1 << 20)
			})),
			grown: stats.Median(perRound(rounds, e, func(m driver.Measurement) float64 {
				return float64(m.Grown) / (1 << 20)
			})),
		})
	}
	return rows
}

// perRound returns a figure of an entrant for each round in which it has one.
func perRound(rounds []driver.Round, e driver.Entrant, figure func(driver.Measurement) float64) (all []float64) {
	for _, r := range rounds {
		if m, ok := r.By[e]; ok && len(m.Samples) > 0 {
			all = append(all, figure(m))
		}
	}
	return all
}

// ratio returns the median of the ratios of two entrants in the same rounds: what disturbs a round disturbs both.
func (t *Table) ratio(rounds []driver.Round, e, unit driver.Entrant) stats.Interval {
	var all []float64
	for _, r := range rounds {
		m, ok := r.By[e]
		u, has := r.By[unit]
		if ok && has {
			all = append(all, stats.Median(m.Samples[t.Metric])/stats.Median(u.Samples[t.Metric]))
		}
	}
	return stats.MedianInterval(all, Confidence)
}

// verdict says which peers are ahead of each of our entrants, or why nothing is ranked.
func (t *Table) verdict(rounds []driver.Round, rows []row, ranked bool) string {
	least, most := shares(t.Result.Rounds)
	if !ranked {
		return fmt.Sprintf("**Unranked**: others took %.0f to %.0f %% of the machine, at most %.0f %% in %d of %d "+
			"rounds, and %d such rounds are needed. The order of the rows means nothing.",
			100*least, 100*most, 100*driver.Quiet, len(t.Result.QuietRounds()), len(t.Result.Rounds), driver.Enough)
	}
	said := []string{fmt.Sprintf("%d rounds; others took %.0f to %.0f %% of the machine.", len(rounds), 100*least,
		100*driver.Quiet)}
	if most <= driver.Quiet {
		said[0] = fmt.Sprintf("%d rounds; others took %.0f to %.0f %% of the machine.", len(rounds),
			100*least, 100*most)
	}
	for _, r := range rows {
		if r.Program == t.Ours {
			said = append(said, t.ahead(rounds, rows, r.Entrant))
		}
	}
	return strings.Join(said, "\n")
}

// ahead says which peers were ahead of one of ours: those whose ratio to it is below 1 with the whole interval.
func (t *Table) ahead(rounds []driver.Round, rows []row, ours driver.Entrant) string {
	var ahead, level []string
	for _, r := range rows {
		if r.Program == t.Ours || r.Entrant == t.Floor {
			continue
		}
		switch ratio := t.ratio(rounds, r.Entrant, ours); {
		case ratio.High < 1:
			ahead = append(ahead, fmt.Sprintf("%s (%.2f of its time)", r.Label, ratio.Mid))
		case ratio.Low <= 1:
			level = append(level, r.Label)
		}
	}
	said := "Ahead of " + ours.Label + ": " + strings.Join(ahead, ", ") + "."
	if len(ahead) == 0 {
		said = "No peer is ahead of " + ours.Label + "."
	}
	if len(level) > 0 {
		said += " Level with it, as far as the rounds show: " + strings.Join(level, ", ") + "."
	}
	return said
}

func shares(rounds []driver.Round) (least, most float64) {
	for i, r := range rounds {
		if i == 0 {
			least = r.Others
		}
		least, most = min(least, r.Others), max(most, r.Others)
	}
	return least, most
}
