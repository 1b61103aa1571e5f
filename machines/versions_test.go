package machines

import (
	"slices"
	"strings"
	"testing"
)

// What was read may have changed by the time of the write. So a write of data that others
// write too names the version on which it is based, and so does a transaction that depends
// on such data.
func TestWritesNameTheVersionThatWasRead(t *testing.T) {
	inTheLine := []string{"semaphore command.await", "latch-semaphore-1 reply.create seq=0",
		"latch-semaphore-1 reply.children children=own"}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"semaphore: the limit is agreed": {
			append([]string{"open semaphore limit=3"}, append(inTheLine, "semaphore reply.stat data=3 version=5")...),
			"check /l/leases version=5"},
		"semaphore: there is no limit yet": {
			append([]string{"open semaphore limit=3"}, append(inTheLine, "semaphore reply.stat version=4")...),
			`set /l/leases data="3" version=4`},
		"semaphore: the limit was read again": {
			append([]string{"open semaphore limit=3"},
				append(inTheLine, "semaphore reply.stat data=3 version=5", "semaphore reply.multi code=BADVERSION",
					"semaphore reply.stat data=3 version=6")...), "check /l/leases version=6"},
		"persistent: another set": {
			[]string{"open persistent path=/s payload=1", "persistent command.start", "persistent reply.create zxid=20",
				"persistent reply.stat version=3", "persistent command.set work=2"}, "set /s version=3 payload=2"},
		"persistent: somebody has written": {
			[]string{"open persistent path=/s payload=1", "persistent command.start", "persistent reply.create zxid=20",
				"persistent reply.stat version=3", "persistent watch.changed path=/s",
				"persistent reply.stat version=8", "persistent command.set work=2"}, "set /s version=8 payload=2"},
		"persistent: a write whose reply was lost": {
			[]string{"open persistent path=/s payload=1", "persistent command.start", "persistent reply.create zxid=20",
				"persistent reply.stat version=3", "persistent command.set work=2", "suspend", "attach",
				"persistent reply.stat version=4"}, "set /s version=4 payload=2"},
		"number: add": {
			[]string{"open number path=/c task=add operand=1", "number command.start", "number reply.stat version=7"},
			"version=7"},
		"number: set": {
			[]string{"open number path=/c task=set operand=1", "number command.start", "number reply.stat version=7"},
			"version=7"},
		"number: swap": {
			[]string{"open number path=/c task=swap operand=1", "number command.start", "number reply.stat version=7"},
			"version=7"},
	} {
		_, answer := playAlone(t, c.lines...)
		if !slices.ContainsFunc(requests(answer),
			func(r string) bool { return strings.HasPrefix(r, "multi ") && strings.Contains(r, c.want) }) {
			t.Errorf("%s: the transaction has to have %q:\n%s", name, c.want, answer)
		}
	}
}
