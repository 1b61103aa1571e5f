package quartz_test

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // a machine's own may be older than Java's

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/integrations/quartz"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// refused are the expressions that Quartz reads and Parse does not: nobody can have meant what Quartz makes of them.
var refused = []string{
	"0/0 * * * * ?",                                                                  // the step is ignored
	"0 0 0 ? * MON/2", "0 0 0 ? * MON-FRI/2", "0 0 0 ? JAN/3 MON", "0 0 0 1 JAN/3 ?", // the step is ignored
	"0 0 0 1W,15W * ?", "0 0 0 1,15W * ?", "0 0 0 1-15W * ?", "0 0 0 ? * 2#1,3", // only the first day counts
	"0 0 12 1 JANUARY ?", "0 0 12 ? * MONDAY", // the rest of the name is ignored
	// What cannot be read is ignored.
	"1-2- * * * * ?", "1,,2 * * * * ?", ",1 * * * * ?", "1, * * * * ?", "0 0 0 1? * ?", "0 0 0 1 1 ? 2030 x",
	"0 0 1.5 * * ?", "0 0 1+2 * * ?", "0 0 12 * * ?;", "0 0 12 *2 * ?", "0 0 12 ** * ?", "0 0 0 1 * ? L",
	"0 0 12 * * ? 1969", "0 0 12 * * ? 2300", // no year in which it could fire
}

// line is one line of testdata/quartz.tsv: what Quartz made of an expression.
type line struct{ zone, start, expression, result string }

// table returns what testdata/Table.java printed.
func table(t *testing.T) (lines []line) {
	t.Helper()
	f, err := os.Open("testdata/quartz.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if strings.HasPrefix(in.Text(), "#") {
			continue
		}
		parts := strings.Split(in.Text(), "\t")
		if len(parts) != 4 && len(parts) != 5 {
			t.Fatalf("a line of the table has %d parts: %q", len(parts), in.Text())
		}
		lines = append(lines, line{parts[0], parts[1], strings.ReplaceAll(parts[2], `\t`, "\t"), parts[3]})
	}
	return lines
}

// ours returns what this package makes of a line's expression, in the line's form.
func (l line) ours(t *testing.T) string {
	t.Helper()
	zone, err := time.LoadLocation(l.zone)
	if err != nil {
		t.Fatal(err)
	}
	cron, err := quartz.Parse(l.expression, zone)
	if err != nil {
		return err.Error()
	}
	start, err := strconv.ParseInt(l.start, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var times []string
	for at := time.Unix(start, 0); len(times) < 4; {
		if at = cron.Next(at); at.IsZero() {
			times = append(times, "never")
			break
		}
		times = append(times, strconv.FormatInt(at.Unix()-start, 10))
	}
	return strings.Join(times, " ")
}

// TestItFiresWhenQuartzFires: every line of the table, in which Quartz's own program wrote when it fires.
func TestItFiresWhenQuartzFires(t *testing.T) {
	lines := table(t)
	expressions := map[string]bool{}
	for _, l := range lines {
		expressions[l.expression] = true
		if l.zone == "-" || slices.Contains(refused, l.expression) {
			if _, err := quartz.Parse(l.expression, time.UTC); err == nil {
				t.Errorf("%q is read, and Quartz says %s", l.expression, l.result)
			}
			continue
		}
		if got := l.ours(t); got != l.result {
			t.Errorf("%s, from %s: %q fires after %s s, want %s", l.zone, l.start, l.expression, got, l.result)
		}
	}
	for _, e := range refused {
		if !expressions[e] {
			t.Errorf("the table does not have %q, which is to be refused", e)
		}
	}
	if len(expressions) < 400 || len(lines) < 2000 {
		t.Errorf("the table has %d expressions and %d lines", len(expressions), len(lines))
	}
}

// TestZones: what Java's TimeZone.getTimeZone makes of the same names, and what it takes for GMT without a word.
func TestZones(t *testing.T) {
	hours := func(h float64) int { return int(h * 3600) }
	for name, want := range map[string]int{
		"GMT": 0, "GMT0": 0, "GMT+8": hours(8), "GMT+08": hours(8), "GMT+8:00": hours(8), "GMT+08:00": hours(8),
		"GMT+0800": hours(8), "GMT+800": hours(8), "GMT-3:30": hours(-3.5), "GMT-0330": hours(-3.5), "GMT+0": 0,
		"GMT+23:59": hours(24) - 60,
	} {
		zone, err := quartz.Zone(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, got := time.Unix(0, 0).In(zone).Zone(); got != want {
			t.Errorf("%s is %d s from GMT, want %d", name, got, want)
		}
	}
	for _, name := range []string{
		"Europe/Berlin", "UTC", "UTC+8", "GMT+24", "GMT+8:60", "GMT+8:5", "GMT8", "GMT+", "GMT+-8", "GMT+x", "GMT+8:",
		"GMT+12345", "GMT+008:00", "gmt", "GMT ",
	} {
		if zone, err := quartz.Zone(name); err == nil || !strings.Contains(err.Error(), "GMT+8:00") {
			t.Errorf("%q is read as %v, with the error %v", name, zone, err)
		}
	}
	if zone, err := quartz.Zone(""); zone != time.Local || err != nil {
		t.Errorf("no name is %v, with the error %v", zone, err)
	}
}

// TestNextIsInTheZone: what Next returns is in the expression's zone, whole seconds, and without a monotonic
// reading.
func TestNextIsInTheZone(t *testing.T) {
	zone, err := quartz.Zone("GMT+8:00")
	if err != nil {
		t.Fatal(err)
	}
	c, err := quartz.Parse("0 30 6 * * ?", zone)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Next(time.Date(2026, 11, 27, 22, 29, 59, 999_999_999, time.UTC))
	if want := time.Date(2026, 11, 28, 6, 30, 0, 0, zone); got != want {
		t.Errorf("it fires at %v, want %v", got, want)
	}
	if c.String() != "0 30 6 * * ?" {
		t.Errorf("the expression is %q", c)
	}
	local, err := quartz.Parse("0 * * * * ?", nil)
	if err != nil {
		t.Fatal(err)
	}
	if at := local.Next(time.Now()); at.Location() != time.Local || time.Until(at) > time.Minute {
		t.Errorf("without a zone it fires at %v", at)
	}
}
