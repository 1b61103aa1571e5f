package machines

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// These tests play directives of golden traces, and look at one fact of the last answer. A
// golden trace shows the same fact, but a rewrite of the traces whose diff is not read lets
// a bug in. What a test states has to be changed by hand.

// play plays directives, and returns the answer to the last one.
func (c *conversation) play(t *testing.T, directives ...string) (last string) {
	t.Helper()
	for _, line := range directives {
		words := strings.Fields(line)
		d := &datadriven.TestData{Cmd: words[0], Pos: t.Name()}
		for _, word := range words[1:] {
			key, value, given := strings.Cut(word, "=")
			arg := datadriven.CmdArg{Key: key}
			if given {
				arg.Vals = strings.Split(strings.Trim(value, "()"), ",")
			}
			d.CmdArgs = append(d.CmdArgs, arg)
		}
		last = c.say(t, d)
	}
	return last
}

// playAlone is play in a conversation of its own, which begins with a connection.
func playAlone(t *testing.T, directives ...string) (*conversation, string) {
	t.Helper()
	c := newConversation(t, newCoverage())
	c.play(t, "connected")
	return c, c.play(t, directives...)
}

// requests returns the requests in an answer, without their numbers.
func requests(answer string) (all []string) {
	for _, found := range regexp.MustCompile(`(?m)^  #\d+[!*]* `+
		`((?:get|exists|children|create|delete|multi|sync|addwatch) .*)$`).FindAllStringSubmatch(answer, -1) {
		all = append(all, found[1])
	}
	return all
}
