package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/internal/play"
)

// sessionLessons are about sessions as much as about their recipe.
var sessionLessons = []string{"cut-off-follower", "deposed-leader", "pause", "session-over", "cut-off-follower-bug"}

// playground says how a chart's recipe can be played, and which lessons show it; nothing of one that none shows.
func playground(chart string) string {
	plays, lessons := slices.Contains(play.Recipes(), chart), lessonsOf(chart)
	if !plays && len(lessons) == 0 {
		return ""
	}
	var b strings.Builder
	if plays {
		fmt.Fprintf(&b, "Play it [in a browser](../playground.md): `incumbent play '1;%s;usual;3;7'`.\n", chart)
	}
	if len(lessons) == 0 {
		b.WriteString("The [lessons](../playground.md#lessons) play other recipes. To play one with this " +
			"recipe, open " +
			"it, choose the recipe at the top, and click “same deeds”.\n")
	} else {
		b.WriteString("[Lessons](../playground.md#lessons) that show it:\n\n")
	}
	for _, l := range lessons {
		fmt.Fprintf(&b, "- [%s](../playground.md#%s): `incumbent play %s`\n", l.Title, anchor(l.Title), l.ID)
	}
	return b.String() + "\n"
}

// lessonsOf returns the lessons that a chart's page names.
func lessonsOf(chart string) (all []play.Lesson) {
	for _, l := range play.Lessons() {
		s, err := play.ParseLink(l.Link)
		if err == nil && s.Recipe == chart || chart == "session" && slices.Contains(sessionLessons, l.ID) {
			all = append(all, l)
		}
	}
	return all
}

// anchor returns the name that GitHub gives to a heading.
func anchor(title string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(title), ",", ""), " ", "-")
}

// What docs/playground.md has of the lessons stands between these lines.
const (
	lessonsBegin = "<!-- lessons: made by go run ./cmd/gencharts. Do not edit: change internal/play/lessons.go. -->\n"
	lessonsEnd   = "<!-- /lessons -->\n"
)

// WithLessons returns docs/playground.md with the lessons in it. The error says that it has no place for them.
func WithLessons(page string) (string, error) {
	before, rest, begins := strings.Cut(page, lessonsBegin)
	_, after, ends := strings.Cut(rest, lessonsEnd)
	if !begins || !ends {
		return "",
			fmt.Errorf("docs/playground.md: want the lines %q and %q, and the lessons between them",
				lessonsBegin, lessonsEnd)
	}
	var b strings.Builder
	for _, l := range play.Lessons() {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n    incumbent play %s\n", l.Title, strings.Join(l.Says, " "), l.ID)
	}
	return before + lessonsBegin + b.String() + "\n" + lessonsEnd + after, nil
}
