package quartz

import "time"

// days are the days of a month on which an expression fires: by their number, or by their day of the week.
type days struct {
	numbers set // of the month
	week    set // 1 is Sunday; used if byWeek
	byWeek  bool

	last    bool // numbers: the last day of the month, less back; week: the last one in the month
	back    int
	weekday bool // the nearest one from Monday to Friday to the day, in the same month
	nth     int  // week: the nth one in the month, from 1 on
}

// has reports whether the expression fires on a day.
func (s *days) has(y int, m time.Month, d int) bool {
	ends := daysIn(y, m)
	switch {
	case s.byWeek && s.last:
		return s.week.has(dayOfWeek(y, m, d)) && d+7 > ends
	case s.byWeek && s.nth > 0:
		return s.week.has(dayOfWeek(y, m, d)) && (d+6)/7 == s.nth
	case s.byWeek:
		return s.week.has(dayOfWeek(y, m, d))
	case s.weekday && s.last:
		return d == nearestWeekday(y, m, ends-s.back)
	case s.weekday:
		one, _ := s.numbers.from(1)
		return d == nearestWeekday(y, m, one)
	case s.last:
		return d == ends-s.back
	}
	return s.numbers.has(d)
}

// nearestWeekday returns the day from Monday to Friday that is nearest to a day and in its month. As in Quartz,
// the day may be one that the month does not have: then, so may be the result.
func nearestWeekday(y int, m time.Month, d int) int {
	switch time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		if d == 1 {
			return d + 2
		}
		return d - 1
	case time.Sunday:
		if d == daysIn(y, m) {
			return d - 2
		}
		return d + 1
	}
	return d
}

// dayOfWeek returns Quartz's number of a day of the week: 1 is Sunday.
func dayOfWeek(y int, m time.Month, d int) int {
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Weekday()) + 1
}

func daysIn(y int, m time.Month) int { return time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day() }
