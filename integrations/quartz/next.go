package quartz

import "time"

// horizon is how many years Next looks ahead. Quartz gives up a hundred years from now.
const horizon = 100

// Next returns the first time after an instant at which the expression fires, in its zone. The zero time means
// that it does not fire within a hundred years.
func (c *Cron) Next(after time.Time) time.Time {
	from := after.Truncate(time.Second).Add(time.Second).In(c.zone)
	y, m, d := from.Date()
	last := y + horizon
	// The first day may be left in its middle; every later one is looked at from its midnight on.
	for clock := secondOfDay(from); y <= last; clock = 0 {
		if found := c.inDay(y, m, d, clock); !found.IsZero() {
			return found
		}
		y, m, d = c.nextDay(y, m, d)
	}
	return time.Time{}
}

func secondOfDay(t time.Time) int { return t.Hour()*3600 + t.Minute()*60 + t.Second() }

// nextDay returns the day after another. It passes over months and years in which nothing fires.
func (c *Cron) nextDay(y int, m time.Month, d int) (int, time.Month, int) {
	switch {
	case c.someYears && !c.years.has(y-firstYear):
		return y + 1, time.January, 1
	case !c.months.has(int(m)) || d >= daysIn(y, m):
		next := time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
		return next.Year(), next.Month(), 1
	}
	return y, m, d + 1
}

// inDay returns the first time of one day, from a second of it on, at which the expression fires, and the zero
// time if there is none.
func (c *Cron) inDay(y int, m time.Month, d, from int) time.Time {
	if c.someYears && !c.years.has(y-firstYear) || !c.months.has(int(m)) || !c.days.has(y, m, d) {
		return time.Time{}
	}
	for clock, ok := c.clock(from); ok; clock, ok = c.clock(clock + 1) {
		if t, exists := c.instant(y, m, d, clock); exists {
			return t
		}
		// The zone's clocks skip this time, and maybe all others of its minute: none skips less than a minute.
		clock += 59 - clock%60
	}
	return time.Time{}
}

// clock returns the first second of a day, from one on, that the expression's seconds, minutes and hours have.
func (c *Cron) clock(from int) (int, bool) {
	hour, minute, second := from/3600, from/60%60, from%60
	for h, ok := c.hours.from(hour); ok; h, ok = c.hours.from(h + 1) {
		if h > hour {
			minute, second = 0, 0
		}
		for m, ok := c.minutes.from(minute); ok; m, ok = c.minutes.from(m + 1) {
			if h > hour || m > minute {
				second = 0
			}
			if s, ok := c.seconds.from(second); ok {
				return h*3600 + m*60 + s, true
			}
		}
	}
	return 0, false
}

// instant returns the instant at which the zone's clocks show a time: the last one if they show it twice. It
// reports false if they skip it.
func (c *Cron) instant(y int, m time.Month, d, clock int) (time.Time, bool) {
	wall := time.Date(y, m, d, clock/3600, clock/60%60, clock%60, 0, time.UTC).Unix()
	about := time.Unix(wall, 0).In(c.zone)
	var found time.Time
	for _, near := range []time.Time{about.Add(-day), about, about.Add(day)} {
		_, offset := near.Zone()
		at := time.Unix(wall-int64(offset), 0).In(c.zone)
		if _, there := at.Zone(); there == offset && at.After(found) {
			found = at
		}
	}
	return found, !found.IsZero()
}

const day = 24 * time.Hour
