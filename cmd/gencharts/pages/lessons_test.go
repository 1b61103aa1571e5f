package pages

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/internal/play"
	"github.com/incumbent-go/incumbent/machines"
)

// Each lesson is on the page of a chart, and has a section of the playground's page, which that links to.
func TestEachLessonIsLinkedTo(t *testing.T) {
	section, err := WithLessons("before\n" + lessonsBegin + "stale lines\n" + lessonsEnd + "after\n")
	if err != nil || !strings.HasPrefix(section, "before\n") || !strings.HasSuffix(section, "after\n") ||
		strings.Contains(section, "stale lines") {
		t.Fatalf("%v: %s", err, section)
	}
	charts := ""
	for _, r := range machines.Recipes() {
		charts += playground(r.Name())
	}
	for _, l := range play.Lessons() {
		if !strings.Contains(section, "\n### "+l.Title+"\n\n"+l.Says[0]+" "+l.Says[1]+"\n") {
			t.Errorf("%s has no section", l.ID)
		}
		if !strings.Contains(charts, "](../playground.md#"+anchor(l.Title)+"): `incumbent play "+l.ID+"`\n") {
			t.Errorf("no chart's page links to %s", l.ID)
		}
	}
	for _, id := range sessionLessons {
		if !strings.Contains(playground("session"), "`incumbent play "+id+"`") {
			t.Errorf("the session's page does not link to %s", id)
		}
	}
	if _, err := WithLessons("before\n"); err == nil || !strings.Contains(err.Error(), "want the lines") {
		t.Error("a page without a place for the lessons:", err)
	}
	if said := playground("treecache"); said != "" {
		t.Error("what cannot be played:", said)
	}
}
