// Package quartz reads the cron expressions of ElasticJob's jobs: Quartz's dialect, with its days of the week
// from 1, its seconds and years, and its L, W and #. It may change in any release.
//
// It fires when Quartz 2.3.2 fires: testdata/quartz.tsv has what that made of several hundred expressions. In
// particular:
//
//   - A time that a zone's clock skips in spring does not fire. "0 30 2 * * ?" has no run in that night.
//   - A time that occurs twice in autumn fires the second time only. A job of every minute pauses for that hour.
//
// What Quartz reads in a way that nobody can have meant is refused, such as "MON-FRI/2", in which Quartz ignores
// the step.
package quartz

import (
	"fmt"
	"strings"
	"time"
)

// Cron is a cron expression in a time zone. It has no state: its methods are safe to call from any goroutine.
type Cron struct {
	text string
	zone *time.Location

	seconds, minutes, hours, months set
	days                            days
	years                           set // from firstYear on; used if someYears
	someYears                       bool
}

// Parse reads an expression: seconds, minutes, hours, day of the month, month, day of the week and, optionally,
// the year. An error names the field, and says what would be right. Nil is time.Local.
func Parse(expression string, zone *time.Location) (*Cron, error) {
	if zone == nil {
		zone = time.Local
	}
	c := &Cron{text: expression, zone: zone}
	fields := strings.Fields(strings.ToUpper(expression))
	if len(fields) < 6 || len(fields) > 7 {
		return nil, fmt.Errorf("quartz: the expression %q has %d fields: want 6 or 7, as in %q",
			expression, len(fields), "0 0 12 * * ?")
	}
	if err := c.read(fields); err != nil {
		return nil, fmt.Errorf("quartz: the expression %q: %w", expression, err)
	}
	return c, nil
}

// String returns the expression as it was given.
func (c *Cron) String() string { return c.text }

// Zone returns the time zone that a job's configuration names: "GMT", or an offset from it, as in "GMT+8",
// "GMT+08:00" or "GMT-0330". ElasticJob refuses other names. Where Java takes what it cannot read for GMT, Zone
// returns an error. An empty name is time.Local, where ElasticJob takes the zone of its process: give both the
// same one.
func Zone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	offset, is := strings.CutPrefix(name, "GMT")
	if !is {
		return nil, fmt.Errorf("quartz: the time zone %q does not begin with GMT: "+
			"ElasticJob accepts no other, as in %q", name, "GMT+8:00")
	}
	if offset == "" || offset == "0" {
		return time.UTC, nil
	}
	seconds, ok := readOffset(offset)
	if !ok {
		return nil, fmt.Errorf("quartz: the time zone %q has no offset that Java reads: want one as in %q",
			name, "GMT+8:00")
	}
	return time.FixedZone(name, seconds), nil
}

// readOffset reads +H, +HH, +HMM, +HHMM, +H:MM or +HH:MM, or the same with a minus.
func readOffset(text string) (seconds int, ok bool) {
	sign, digits := text[0], text[1:]
	hours, minutes, colon := strings.Cut(digits, ":")
	if !colon && len(digits) > 2 {
		hours, minutes = digits[:len(digits)-2], digits[len(digits)-2:]
	}
	h, hOK := number(hours)
	m, mOK := 0, true
	if colon || minutes != "" {
		m, mOK = number(minutes)
		mOK = mOK && len(minutes) == 2
	}
	if sign != '+' && sign != '-' || !hOK || !mOK || len(hours) > 2 || h > 23 || m > 59 {
		return 0, false
	}
	seconds = h*3600 + m*60
	if sign == '-' {
		seconds = -seconds
	}
	return seconds, true
}
