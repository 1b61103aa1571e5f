package quartz

import (
	"fmt"
	"strings"
)

// readNumbers reads the field of the days of the month: L, L-3, LW, L-3W, 15W, or a list.
func (s *days) readNumbers(text string) error {
	day, weekday := strings.CutSuffix(text, "W")
	back, last := strings.CutPrefix(day, "L")
	s.weekday, s.last = weekday, last
	switch {
	case strings.ContainsAny(text, ",") && strings.ContainsAny(text, "LW"):
		return fmt.Errorf("the day of the month is %q: want L or W without other days, as in LW or 15W", text)
	case last && back == "":
		return nil
	case last:
		var ok bool
		if s.back, ok = number(strings.TrimPrefix(back, "-")); !ok || back[0] != '-' || back == "-" || s.back > 30 {
			return fmt.Errorf("the day of the month is %q: want L-0 to L-30 for a day before the last one", text)
		}
		return nil
	case weekday:
		one, ok := number(day)
		if !ok || one < 1 || one > 31 {
			return fmt.Errorf("the day of the month is %q: want 1W to 31W, or LW", text)
		}
		s.numbers.add(one)
		return nil
	}
	return dayField.read(text, &s.numbers)
}

// readWeek reads the field of the days of the week: L, FRIL, FRI#2, or a list.
func (s *days) readWeek(text string) error {
	s.byWeek = true
	if text == "L" {
		s.week.add(weekField.last)
		return nil
	}
	day, nth, isNth := strings.Cut(text, "#")
	day, s.last = strings.CutSuffix(day, "L")
	if !isNth && !s.last {
		return weekField.read(text, &s.week)
	}
	if isNth {
		s.nth, _ = number(nth)
	}
	if isNth && (s.last || s.nth < 1 || s.nth > 5) || strings.ContainsAny(day, ",-/*#") {
		return fmt.Errorf("the day of the week is %q: "+
			"want one day before L or #, and 1 to 5 after #, as in FRIL or FRI#2", text)
	}
	one, err := weekField.number(day, text)
	if err == nil {
		s.week.add(one)
	}
	return err
}
