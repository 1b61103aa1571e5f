package differential

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// unlike are the parts of answers to four-letter words that differ from server to server, or from run to run.
var unlike = []struct{ pattern, instead string }{
	{`127\.0\.0\.1:\d+`, "ADDR"},
	{`version(:|=|\t).*, built on .*`, "version"},
	{`(min/avg/max: )[\d./]+`, "$1"},
	{`(est|lresp|llat|minlat|avglat|maxlat)=\d+`, "$1"},
	{`(Zxid: |lzxid=)0x[0-9a-f]+`, "$1"},
	{`(clientPort|dataDir|dataLogDir|dataDirSize|dataLogSize|host.name|os.name|os.arch)=.*`, "$1"},
	{`(dir_size: )\d+`, "$1"},
	{`(?m)^\d+ expire at .*\n`, ""}, // a real server keeps sets that are empty, too
	{`Sets \(\d+\)`, "Sets"},
	{`(zk_uptime\t)\d+`, "$1"},
	// A real server counts an answer after it has sent it: perhaps after srst, although the answer came before.
	{`(Sent: |zk_packets_sent\t)\d+`, "$1"},
	// The connection that asked the word before may not be gone yet.
	{`(Connections: |zk_num_alive_connections\t)\d+`, "$1"},
	{`(?m)^ /[^\n]*\[0\]\([^\n]*\n`, ""},
	{`(?m)^\tip: [^\n]* sessionId: 0x0\n`, ""},
	{`(Connections Sets/\()\d+`, "$1"},
}

// TestFourLetterWordsAreAnsweredAsByTheRealServer asks both servers with the same clients, watches and nodes.
func TestFourLetterWordsAreAnsweredAsByTheRealServer(t *testing.T) {
	onReleases(t, func(t *testing.T, r release) {
		apache, mem := r.start(t, realzk.Options{}, zkmem.Options{})
		var answers [2]map[string]string
		for side, addr := range []string{apache.Addr(), mem.Addr()} {
			w := newWorld(addr)
			answers[side] = w.words(t)
			w.end()
		}
		for _, word := range words {
			if got, want := answers[1][word], answers[0][word]; got != want || got == "" {
				t.Errorf("%s: zkmem\n%s\nthe real server\n%s", word, got, want)
			}
		}
		t.Logf("%d words: %s", len(words), strings.Join(words, " "))
	})
}

var words = []string{"ruok", "isro", "gtmk", "srvr", "stat", "mntr", "cons", "wchs", "wchc", "wchp", "dump", "conf",
	"dirs", "envi", "crst", "srst", "stat"}

// words lets clients do what the words show, and asks them all.
func (w *world) words(t *testing.T) map[string]string {
	t.Helper()
	for i, c := range w.clients {
		c.connect(0, make([]byte, 16), 0, 30_000, fmt.Sprintf("client%d", i))
	}
	if _, err := realzk.Word(w.addr, "srst"); err != nil { // a real server was asked a few words before it served
		t.Fatal(err)
	}
	open := []acl{{31, "world", "anyone"}}
	a, b, child, former := w.clients[0], w.clients[1], w.clients[2], w.clients[3]
	a.ask(opCreate, enc{}.str("/w").str("data").acls(open).i32(0))
	a.ask(opCreate, enc{}.str("/w/e").str("").acls(open).i32(1))
	a.ask(opExists, enc{}.str("/w/none").flag(true))
	a.ask(opAddWatch, enc{}.str("/w").i32(0))
	b.ask(opAddWatch, enc{}.str("/").i32(1))
	b.ask(opGetData, enc{}.str("/w").flag(true))
	child.ask(opGetChildren, enc{}.str("/w").flag(true))
	child.ask(opExists, enc{}.str("/w/e").flag(true))
	b.ask(opSetData, enc{}.str("/w/e").str("x").i32(-1)) // child still counts as a connection that watches
	child.ask(opPing, nil)
	former.ask(opExists, enc{}.str("/w").flag(true))
	former.ask(opRemoveWatches, enc{}.str("/w").i32(3)) // 3.8 still counts former, too; 3.9 does not
	said := map[string]string{}
	for _, word := range words {
		answer, err := realzk.Word(w.addr, word)
		if err != nil {
			t.Errorf("%s: %v", word, err)
		}
		said[word] = w.alike(word, answer)
	}
	return said
}

// alike takes out what differs, and what only a real server says, and sorts what has no order.
func (w *world) alike(word, answer string) string {
	for id, name := range w.names {
		answer = strings.ReplaceAll(answer, fmt.Sprintf("0x%x", id), name)
	}
	for _, u := range unlike {
		answer = regexp.MustCompile(u.pattern).ReplaceAllString(answer, u.instead)
	}
	lines := strings.Split(answer, "\n")
	switch word {
	case "mntr":
		lines = slices.DeleteFunc(lines, func(line string) bool {
			return !strings.Contains(figures, " "+strings.Split(line, "\t")[0]+" ")
		})
		slices.Sort(lines)
	case "envi":
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, "=") })
	case "stat", "cons", "dump", "wchc", "wchp":
		slices.Sort(lines)
	}
	return strings.Join(lines, "\n")
}

// figures are those that zkmem has of the hundreds that mntr shows.
const figures = " zk_server_state zk_packets_received zk_packets_sent zk_num_alive_connections " +
	"zk_outstanding_requests zk_znode_count" +
	" zk_watch_count zk_ephemerals_count zk_global_sessions zk_local_sessions zk_approximate_data_size "
