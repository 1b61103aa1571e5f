package quartz

import (
	"fmt"
	"slices"
	"strings"
)

// field is one field of an expression: what it is called, its lowest and highest number, and names for numbers.
type field struct {
	name        string
	first, last int
	names       []string // of first and the numbers after it
}

var (
	secondField = field{name: "the second", last: 59}
	minuteField = field{name: "the minute", last: 59}
	hourField   = field{name: "the hour", last: 23}
	dayField    = field{name: "the day of the month", first: 1, last: 31}
	monthField  = field{name: "the month", first: 1, last: 12, names: monthNames}
	weekField   = field{name: "the day of the week", first: 1, last: 7, names: weekNames}
	yearField   = field{name: "the year", first: firstYear, last: lastYear}

	monthNames = strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")
	weekNames  = strings.Fields("SUN MON TUE WED THU FRI SAT")
)

// read reads all fields.
func (c *Cron) read(fields []string) error {
	for i, into := range []*set{&c.seconds, &c.minutes, &c.hours} {
		if err := []field{secondField, minuteField, hourField}[i].read(fields[i], into); err != nil {
			return err
		}
	}
	if err := monthField.read(fields[4], &c.months); err != nil {
		return err
	}
	if len(fields) == 7 && fields[6] != "*" {
		c.someYears = true
		if err := yearField.read(fields[6], &c.years); err != nil {
			return err
		}
	}
	switch byDay, byWeek := fields[3] != "?", fields[5] != "?"; {
	case byDay && byWeek:
		return fmt.Errorf("the day of the month is %q, and the day of the week %q: want ? for one of the two",
			fields[3], fields[5])
	case !byDay && !byWeek:
		return fmt.Errorf("the days of the month and of the week are both ?: want one of the two, or * for every day")
	case byDay:
		return c.days.readNumbers(fields[3])
	default:
		return c.days.readWeek(fields[5])
	}
}

// read adds the numbers of a list to a set.
func (f *field) read(text string, into *set) error {
	for one := range strings.SplitSeq(text, ",") {
		if err := f.readOne(one, into); err != nil {
			return err
		}
	}
	return nil
}

// readOne adds what one part of a list has: *, a number, a range, and each of them with a step.
func (f *field) readOne(text string, into *set) error {
	span, stepText, hasStep := strings.Cut(text, "/")
	step := 1
	if hasStep {
		var ok bool
		if step, ok = number(stepText); !ok || step < 1 || f.first != firstYear && step > f.mostStep() {
			return fmt.Errorf("%s has the step %q: want a number from 1 to %d", f.name, stepText, f.mostStep())
		}
		if len(f.names) > 0 && strings.ContainsFunc(span, isLetter) {
			return fmt.Errorf("%s is %q: Quartz ignores a step after a name: write it with numbers", f.name, text)
		}
	}
	if span == "*" || span == "" && hasStep {
		f.add(f.first, f.last, step, into)
		return nil
	}
	from, to, isRange := strings.Cut(span, "-")
	a, err := f.number(from, text)
	if err != nil {
		return err
	}
	switch b := f.last; {
	case isRange:
		if b, err = f.number(to, text); err != nil {
			return err
		}
		if isLetter(rune(from[0])) != isLetter(rune(to[0])) {
			return fmt.Errorf("%s is %q: want two names or two numbers", f.name, text)
		}
		if b < a && f.first == firstYear {
			return fmt.Errorf("%s is %q: want the lower one first", f.name, text)
		}
		f.add(a, b, step, into)
	case hasStep:
		f.add(a, b, step, into)
	default:
		into.add(a - f.base())
	}
	return nil
}

// mostStep is the highest step that Quartz allows.
func (f *field) mostStep() int {
	switch f.last {
	case 59, 23:
		return f.last
	}
	return f.last - f.first + 1
}

// base is the number that is 0 in the field's set.
func (f *field) base() int {
	if f.first == firstYear {
		return firstYear
	}
	return 0
}

// add adds a range with a step. One whose end is before its beginning goes on from the field's first number.
func (f *field) add(from, to, step int, into *set) {
	if to < from {
		to += f.last - f.first + 1
	}
	for n := from; n <= to; n += step {
		m := n
		if m > f.last {
			m -= f.last - f.first + 1
		}
		into.add(m - f.base())
	}
}

// number reads a number or a name of the field, in a part of a list.
func (f *field) number(text, part string) (int, error) {
	if i := slices.Index(f.names, text); i >= 0 {
		return f.first + i, nil
	}
	n, ok := number(text)
	if !ok || n < f.first || n > f.last {
		names := ""
		if len(f.names) > 0 {
			names = fmt.Sprintf(" or %s to %s", f.names[0], f.names[len(f.names)-1])
		}
		return 0, fmt.Errorf("%s has %q: want %d to %d%s, a range, or *", f.name, part, f.first, f.last, names)
	}
	return n, nil
}

func isLetter(r rune) bool { return r >= 'A' && r <= 'Z' }
