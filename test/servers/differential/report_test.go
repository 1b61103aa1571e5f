package differential

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// opNames are ZooKeeper's names of the requests.
var opNames = map[int32]string{
	opCloseSession: "closeSession", opCreate: "create", opDelete: "delete", opExists: "exists", opGetData: "getData",
	opSetData: "setData", opGetACL: "getACL", opSetACL: "setACL", opGetChildren: "getChildren",
	opSync: "sync", opPing: "ping",
	opGetChildren2: "getChildren2", opCheck: "check", opMulti: "multi", opCreate2: "create2", opReconfig: "reconfig",
	opCheckWatches: "checkWatches", opRemoveWatches: "removeWatches", opCreateContainer: "createContainer",
	opCreateTTL: "createTTL", opDeleteContainer: "deleteContainer", opMultiRead: "multiRead", opSASL: "sasl",
	opAddWatch: "addWatch", opWhoAmI: "whoAmI", opAuth: "auth", opSetWatches: "setWatches",
	opGetEphemerals:    "getEphemerals",
	opCountDescendants: "getAllChildrenNumber", opSetWatches2: "setWatches2",
}

// played is a step and what both servers answered.
type played struct {
	number, slot int
	name         string
	real, mem    string // a line for each reply and event that a client got
}

func (p played) String() string {
	return fmt.Sprintf("step %d, client %d: %s\n%s", p.number, p.slot, p.name, indent(p.real))
}

// difference says at which step the servers differ, the last of the history, and
// then what came before it.
func difference(seed uint64, history []played, before int) string {
	last := history[len(history)-1]
	var b strings.Builder
	b.WriteString(last.differs())
	earlier := history[max(0, len(history)-1-before) : len(history)-1]
	fmt.Fprintf(&b, "seed %d; the steps before it, which both answered alike, the latest first (%d):\n",
		seed, len(earlier))
	for _, p := range slices.Backward(earlier) {
		fmt.Fprintln(&b, p)
	}
	return b.String()
}

// differs says what was asked, and both answers.
func (p played) differs() string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d differs: client %d asked: %s\n", p.number, p.slot, p.name)
	real, mem := strings.Split(p.real, "\n"), strings.Split(p.mem, "\n")
	for i := range max(len(real), len(mem)) {
		if r, m := line(real, i), line(mem, i); r != m {
			fmt.Fprintf(&b, "  the first line that differs is %d:\n    ZooKeeper: %s\n    zkmem:     %s\n", i+1, r, m)
			break
		}
	}
	fmt.Fprintf(&b, "  all that ZooKeeper answered:\n%s\n  all that zkmem answered:\n%s\n",
		indent(p.real), indent(p.mem))
	return b.String()
}

func line(lines []string, i int) string {
	if i >= len(lines) || lines[i] == "" {
		return "(nothing)"
	}
	return lines[i]
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

func TestAReportBeginsWithTheStepThatDiffers(t *testing.T) {
	got := difference(7, []played{
		{0, 1, "new session1", "[1] connected", "[1] connected"},
		{1, 1, `create "/a"`, "[1] reply ok", "[1] reply ok"},
		{2, 3, `exists "/a"`, "[3] reply ok\n[1] event", "[3] reply ok"},
	}, 1)
	if want := `step 2 differs: client 3 asked: exists "/a"
  the first line that differs is 2:
    ZooKeeper: [1] event
    zkmem:     (nothing)
  all that ZooKeeper answered:
    [3] reply ok
    [1] event
  all that zkmem answered:
    [3] reply ok
seed 7; the steps before it, which both answered alike, the latest first (1):
step 1, client 1: create "/a"
    [1] reply ok
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
