package play

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file has a script as text, which stands in a page's address:
//
//	1;latch;usual;3+1;7;rideout~8.5:freeze:alice:9~-14:lose-reply:bob~31.25:start:dave@60
//
// These are the version, the recipe, the scenario, the participants (and those that wait), the
// seed and options; then deeds, with "-" before one that was taken out and "+" before one that
// was added; then until when the world is played. Times are seconds. Nothing else is read.

const (
	version      = "1"
	defaultUntil = 20 * time.Second
)

// ParseLink reads a script. Its error says what is wrong, and what would be right.
func ParseLink(text string) (Script, error) {
	if len(text) > MaxLink {
		return Script{}, fmt.Errorf("play: a link of %d bytes: want at most %d", len(text), MaxLink)
	}
	s := Script{Until: defaultUntil}
	head, until, found := strings.Cut(text, "@")
	if found {
		var err error
		if s.Until, err = parseSeconds(until); err != nil {
			return Script{}, fmt.Errorf("play: until: %w", err)
		}
	}
	parts := strings.Split(head, "~")
	if err := s.parseHead(parts[0]); err != nil {
		return Script{}, err
	}
	if len(parts)-1 > MaxDeeds {
		return Script{}, fmt.Errorf("play: %d deeds: want at most %d", len(parts)-1, MaxDeeds)
	}
	for i, part := range parts[1:] {
		d, err := parseDeed(part)
		if err != nil {
			return Script{}, fmt.Errorf("play: deed %d: %w", i+1, err)
		}
		s.Deeds = append(s.Deeds, d)
	}
	s.sort()
	if err := s.Check(); err != nil {
		return Script{}, err
	}
	return s, nil
}

// sort puts the deeds in the order of their times.
func (s *Script) sort() {
	slices.SortStableFunc(s.Deeds, func(a, b Deed) int { return cmp.Compare(a.At, b.At) })
}

// Link returns the script as text.
func (s Script) Link() string {
	s.Deeds = slices.Clone(s.Deeds)
	s.sort()
	var b strings.Builder
	b.WriteString(s.Head())
	for _, d := range s.Deeds {
		b.WriteString("~" + d.Text())
	}
	b.WriteString("@" + seconds(s.Until))
	return b.String()
}

// Head returns the beginning of the link, without its deeds.
func (s Script) Head() string {
	people := strconv.Itoa(s.Starting)
	if s.Waiting > 0 {
		people += "+" + strconv.Itoa(s.Waiting)
	}
	all := []string{version, s.Recipe, s.Scenario, people, strconv.FormatInt(s.Seed, 10)}
	if s.RideOut {
		all = append(all, "rideout")
	}
	if s.Forgets != "" {
		all = append(all, "forgets="+s.Forgets)
	}
	if s.Works != 0 {
		all = append(all, "work="+seconds(s.Works))
	}
	if s.Bug != "" {
		all = append(all, "bug="+s.Bug)
	}
	return strings.Join(all, ";")
}

// Text returns the deed as it stands in a link.
func (d Deed) Text() string {
	text := string(d.Mark) + seconds(d.At) + ":" + d.Verb
	if d.Target != "" {
		text += ":" + d.Target
	}
	if d.For != 0 {
		text += ":" + seconds(d.For)
	}
	return text
}

func (s *Script) parseHead(head string) (err error) {
	parts := strings.Split(head, ";")
	if parts[0] != version || len(parts) < 5 {
		return fmt.Errorf("play: a link that begins with %s: want one like 1;latch;usual;3;7", cut(head))
	}
	s.Recipe, s.Scenario = parts[1], parts[2]
	starting, waiting, more := strings.Cut(parts[3], "+")
	if s.Starting, err = parseCount(starting); err == nil && more {
		s.Waiting, err = parseCount(waiting)
	}
	if err != nil {
		return fmt.Errorf("play: participants: %w", err)
	}
	if s.Seed, err = parseSeed(parts[4]); err != nil {
		return err
	}
	rest := parts[5:]
	option := func(name string) (value string, given bool) {
		if len(rest) == 0 {
			return "", false
		}
		if value, given = strings.CutPrefix(rest[0], name); !given || value == "" {
			return "", false
		}
		rest = rest[1:]
		return value, true
	}
	if len(rest) > 0 && rest[0] == "rideout" {
		s.RideOut, rest = true, rest[1:]
	}
	s.Forgets, _ = option("forgets=")
	if value, given := option("work="); given {
		if s.Works, err = parseSeconds(value); err != nil {
			return fmt.Errorf("play: work: %w", err)
		}
	}
	s.Bug, _ = option("bug=")
	if len(rest) > 0 {
		return fmt.Errorf("play: the option %s: want rideout, forgets=NAME, work=SECONDS, bug=NAME, each once and "+
			"in this order", cut(rest[0]))
	}
	return nil
}

func parseDeed(text string) (d Deed, err error) {
	for _, mark := range []Mark{TakenOut, Added} {
		if rest, found := strings.CutPrefix(text, string(mark)); found {
			d.Mark, text = mark, rest
			break
		}
	}
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 4 {
		return d,
			fmt.Errorf("%s: want SECONDS:VERB, then :TARGET and :SECONDS if the verb has them, as in "+
				"8.5:freeze:alice:9", cut(text))
	}
	if d.At, err = parseSeconds(parts[0]); err != nil {
		return d, err
	}
	v, rest := verbNamed(parts[1]), parts[2:]
	if d.Verb = parts[1]; v == nil {
		return d, nil // Check says what is wrong
	}
	if v.To != toEnsemble && len(rest) > 0 {
		d.Target, rest = rest[0], rest[1:]
	}
	if v.Lasts && len(rest) > 0 {
		if d.For, err = parseSeconds(rest[0]); err != nil {
			return d, err
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return d, fmt.Errorf("%s: %s has no %s", cut(text), v.Verb, cut(rest[0]))
	}
	return d, nil
}

// parseSeconds reads seconds: one to three digits, and up to six behind a point.
func parseSeconds(text string) (time.Duration, error) {
	whole, fraction, point := strings.Cut(text, ".")
	bad := len(whole) < 1 || len(whole) > 3 || !digits(whole) || len(whole) > 1 && whole[0] == '0'
	if bad || point && (len(fraction) < 1 || len(fraction) > 6 || !digits(fraction)) {
		return 0, fmt.Errorf("%s s: want 1 to 3 digits, and up to 6 behind a point, as in 8.5", cut(text))
	}
	n, _ := strconv.Atoi(whole + fraction + strings.Repeat("0", 6-len(fraction)))
	return time.Duration(n) * time.Microsecond, nil
}

// seconds returns a duration as parseSeconds reads it.
func seconds(d time.Duration) string {
	text := fmt.Sprintf("%d.%06d", d/time.Second, d%time.Second/time.Microsecond)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func parseCount(text string) (int, error) {
	if len(text) != 1 || text < "1" || text > "9" {
		return 0, fmt.Errorf("%s: want 1 to 9, and perhaps those that wait, as in 3+1", cut(text))
	}
	return int(text[0] - '0'), nil
}

func parseSeed(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !digits(text) || len(text) > 1 && text[0] == '0' || n > MaxSeed {
		return 0, fmt.Errorf("play: the seed %s: want 0 to %d", cut(text), int64(MaxSeed))
	}
	return n, nil
}

// digits reports whether a text has nothing but digits.
func digits(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// cut returns the beginning of a foreign text, for an error.
func cut(text string) string {
	if len(text) > 40 {
		return strconv.Quote(strings.ToValidUTF8(text[:40], "?") + "…")
	}
	return strconv.Quote(strings.ToValidUTF8(text, "?"))
}
