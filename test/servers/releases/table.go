package releases

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parse reads results: a line for each release and part, its fields between tabs.
func parse(text string) (all []outcome, err error) {
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 7 {
			return nil, fmt.Errorf("%q: want release, part, passed, silent, failed, seconds and what was said", line)
		}
		var n [3]int
		for i, field := range []string{f[2], f[3], f[5]} {
			if n[i], err = strconv.Atoi(field); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
		}
		o := outcome{release: f[0], part: f[1], passed: n[0], silent: n[1], said: f[6]}
		o.took = time.Duration(n[2]) * time.Second
		known := slices.ContainsFunc(parts, func(p part) bool { return p.name == o.part })
		if !known || !slices.Contains(releases, o.release) {
			return nil, fmt.Errorf("%q: want one of the releases %q and of their parts", line, releases)
		}
		if f[4] != "" {
			o.failed = strings.Split(f[4], " ")
		}
		all = append(all, o)
	}
	return all, nil
}

// format is the opposite of parse. The outcomes are in the table's order.
func format(all []outcome) string {
	var b strings.Builder
	for _, o := range sorted(all) {
		fmt.Fprintf(&b, "%s\t%s\t%d\t%d\t%s\t%d\t%s\n", o.release, o.part, o.passed, o.silent,
			strings.Join(o.failed, " "), int(o.took.Seconds()), o.said)
	}
	return b.String()
}

func sorted(all []outcome) []outcome {
	place := func(o outcome) int {
		column := slices.IndexFunc(parts, func(p part) bool { return p.name == o.part })
		return slices.Index(releases, o.release)*len(parts) + column
	}
	return slices.SortedFunc(slices.Values(all), func(a, b outcome) int { return place(a) - place(b) })
}

// with returns the outcomes with another one, in place of that of the same part on the same release.
func with(all []outcome, o outcome) []outcome {
	same := func(old outcome) bool { return old.release == o.release && old.part == o.part }
	return append(slices.DeleteFunc(slices.Clone(all), same), o)
}

// cell returns what the table says of a part on a release.
func cell(all []outcome, release, part string) string {
	i := slices.IndexFunc(all, func(o outcome) bool { return o.release == release && o.part == part })
	if i < 0 {
		return "–"
	}
	o := all[i]
	text := strconv.Itoa(o.passed)
	if part == rolled {
		text = "to " + next(release) + ": " + o.said
	}
	if len(o.failed) > 0 {
		text += ", **failed:** " + strings.Join(o.failed, ", ")
	}
	return text
}

// table returns the table of the page, and below it what the releases lack.
func table(all []outcome) string {
	var b strings.Builder
	b.WriteString("|server|")
	for _, p := range parts {
		b.WriteString(p.name + "|")
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(parts)+1) + "\n")
	for _, release := range releases {
		b.WriteString("|" + release + "|")
		for _, p := range parts {
			b.WriteString(cell(all, release, p.name) + "|")
		}
		b.WriteString("\n")
	}
	for _, release := range releases {
		for i, l := range lacks[release] {
			switch {
			case i == 0:
				fmt.Fprintf(&b, "\nNot run on %s: without %s", release, l.why)
			case l.why != lacks[release][i-1].why:
				fmt.Fprintf(&b, "; without %s", l.why)
			}
			fmt.Fprintf(&b, " `%s`", l.test)
		}
		if len(lacks[release]) > 0 {
			b.WriteString(".\n")
		}
	}
	return b.String()
}

// The marks between which the table stands in the page.
const begins, ends = "<!-- releases -->\n", "<!-- /releases -->"

// between returns the page with a text between its marks.
func between(page, text string) (string, error) {
	before, rest, ok := strings.Cut(page, begins)
	_, after, ended := strings.Cut(rest, ends)
	if !ok || !ended {
		return "", fmt.Errorf("there are no marks %s and %s", strings.TrimSpace(begins), ends)
	}
	return before + begins + text + ends + after, nil
}
