package machines

import (
	"slices"
	"testing"
)

// A deposed leader answers a sync. So a read whose result is an answer follows a check
// through the quorum. A sync is enough only if a write in the version that was read follows.
func TestNumbersAreReadBehindTheQuorum(t *testing.T) {
	again := []string{"number command.start", "number reply.stat version=7", "suspend", "attach"}
	for name, c := range map[string]struct {
		lines  []string
		before string
	}{
		"get": {[]string{"open number path=/c task=get", "number command.start"}, "multi {check /c}"},
		"swap": {[]string{"open number path=/c task=swap operand=1 expected=5", "number command.start"},
			"multi {check /c}"},
		"replace": {[]string{"open number path=/c task=replace operand=1 expected=5", "number command.start"},
			"multi {check /c}"},
		"set":             {[]string{"open number path=/c task=set operand=1", "number command.start"}, "sync /c"},
		"add":             {[]string{"open number path=/c task=add operand=1", "number command.start"}, "sync /c"},
		"set, reply lost": {append([]string{"open number path=/c task=set operand=1"}, again...), "multi {check /c}"},
		"add, reply lost": {append([]string{"open number path=/c task=add operand=1"}, again...), "multi {check /c}"},
		"get, reconnected": {[]string{"open number path=/c task=get", "number command.start", "suspend", "attach"},
			"multi {check /c}"},
		"get, made by this": {[]string{"open number path=/c task=get", "number command.start",
			"number reply.stat code=NONODE", "number reply.create zxid=20"}, "multi {check /c}"},
	} {
		_, answer := playAlone(t, c.lines...)
		if got, want := requests(answer), []string{c.before, "get /c data"}; !slices.Equal(got, want) {
			t.Errorf("%s: it sends %q, want %q:\n%s", name, got, want, answer)
		}
	}
}
