package machines

import (
	"slices"
	"testing"
)

// A create whose reply was lost may have made a node though another one was made, too. Of
// several nodes with the own GUID the lowest is kept, and the others are deleted: else they
// would stay in the line until the session ends.
func TestOtherNodesWithTheOwnGUIDAreDeleted(t *testing.T) {
	const guid = "_c_<latch.1>-latch-"
	three := "children=(" + guid + "0000000004," + guid + "0000000002,latch-0000000001," + guid + "0000000007)"
	others := []string{"delete /l/" + guid + "0000000004", "delete /l/" + guid + "0000000007"}
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"after a lost reply": {
			[]string{"latch command.start", "suspend", "latch reply.create code=CONNECTIONLOSS", "attach",
				"latch reply.children " + three},
			append(slices.Clone(others), "get /l/"+guid+"0000000002 watch", "children /l")},
		"in a listing before its turn": {
			[]string{"latch command.start", "latch reply.create seq=2", "latch reply.stat",
				"latch reply.children " + three},
			append(slices.Clone(others), "children /l")},
		"after a lost reply, closing": {
			[]string{"latch command.start", "suspend", "latch reply.create code=CONNECTIONLOSS", "attach",
				"latch command.close", "latch reply.children " + three},
			append(slices.Clone(others), "sync /l", "children /l")},
	} {
		_, answer := playAlone(t, append([]string{"open latch"}, c.lines...)...)
		if got := requests(answer); !slices.Equal(got, c.want) {
			t.Errorf("%s: it sends %q, want %q:\n%s", name, got, c.want, answer)
		}
	}
}
