package machines

import (
	"slices"
	"strings"
	"testing"
)

// A writer that becomes a reader keeps its number. Its node appears ahead of places that
// exist already, where no watch of theirs is. So the deletion of the predecessor never lets
// a place of a read-write lock hold: it lists the line first.
func TestAReadWriteLockIsListedBeforeItHolds(t *testing.T) {
	for name, c := range map[string]struct{ open, ahead string }{
		"a writer behind a writer": {"open readwrite", "__WRIT__0000000000"},
		"a writer behind a reader": {"open readwrite", "__READ__0000000000"},
		"a reader behind a writer": {"open readwrite reads=true", "__WRIT__0000000000"},
	} {
		conversation, answer := playAlone(t, c.open, "readwrite command.await", "readwrite reply.create seq=1",
			"readwrite reply.stat", "readwrite reply.children children=(own,"+c.ahead+")",
			"readwrite reply.stat path=/l/"+c.ahead+" owner=7 czxid=5", "readwrite watch.deleted path=/l/"+c.ahead)
		if state := conversation.engine.State("readwrite"); state != listing ||
			!slices.Equal(requests(answer), []string{"children /l"}) || strings.Contains(answer, "elected") {
			t.Errorf("%s: it is %s, and sends %q. Want it to list the line:\n%s", name, state, requests(answer), answer)
		}
	}
}

// A node that replaced another one at the same path has other children. So a tree cache
// lists it, though it has listed the node before.
func TestANodeThatReplacedAnotherIsListed(t *testing.T) {
	lines := []string{"open treecache path=/a", "treecache command.start", "treecache reply.stat czxid=5 owner=0",
		"treecache reply.children children=b", "treecache reply.stat czxid=6 owner=0", "treecache reply.children",
		"treecache watch.changed path=/a/b"}
	_, answer := playAlone(t, append(lines, "treecache reply.stat czxid=6 owner=0 version=1")...)
	if len(requests(answer)) > 0 {
		t.Errorf("the same node, with other data: it sends %q, want nothing:\n%s", requests(answer), answer)
	}
	_, answer = playAlone(t, append(lines, "treecache reply.stat czxid=9 owner=0")...)
	if !slices.Equal(requests(answer), []string{"children /a/b watch"}) {
		t.Errorf("another node: it sends %q, want a listing:\n%s", requests(answer), answer)
	}
}
