package program

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// listing is what ZooKeeper 3.8.0 answered to "cons": two sessions and the connection that asked.
const listing = " /127.0.0.1:44240[1](queued=0,recved=12,sent=12,sid=0x100019cc54e0000,lop=MULT," +
	"est=1795826837903,to=6000,lcxid=0x4000000a,lzxid=0xa,lresp=27055151,llat=2,minlat=0,avglat=27,maxlat=55)\n" +
	" /127.0.0.1:44300[0](queued=0,recved=1,sent=0)\n" +
	" /127.0.0.1:44244[1](queued=0,recved=10,sent=10,sid=0x100019cc54e0001,lop=PING," +
	"est=1795826839076,to=6000,lcxid=0x40000008,lzxid=0xc,lresp=27058874,llat=1,minlat=0,avglat=1,maxlat=7)\n\n"

func TestConnectionsAreRead(t *testing.T) {
	of, ok := readConnections(listing)
	silent, heard := of[0x100019cc54e0000], of[0x100019cc54e0001]
	if !ok || len(of) != 2 || silent != (contact{3723 * time.Millisecond, 6 * time.Second}) || heard.silent != 0 {
		t.Errorf("%v %v", of, ok)
	}
	for _, other := range []string{"", "cons is not executed because it is not in the whitelist.\n", "\x00\x01/",
		"HTTP/1.1 400"} {
		if of, ok := readConnections(other); ok || len(of) > 0 {
			t.Errorf("%q is read as %v", other, of)
		}
	}
}

// terminal returns a printer that writes to a file, and what reads that.
func terminal(t *testing.T) (*cli.Printer, func() string) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return cli.NewPrinter(f), func() string {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

func TestSignsOfAParticipant(t *testing.T) {
	p := incumbent.Participant{Recipe: "latch", Owner: 7, Token: 5, First: true}
	known := func(silent time.Duration) map[int64]contact { return map[int64]contact{7: {silent, 6 * time.Second}} }
	out, _ := terminal(t)
	for _, c := range []struct {
		known *contacts
		code  string
		says  string
	}{
		{nil, "", ""},
		{&contacts{of: known(2 * time.Second)}, signConnected, "it is connected: its server heard from it in the " +
			"last 2s"},
		{&contacts{of: known(4 * time.Second)}, signSilent, "TROUBLE: its server has heard nothing from it for 4s: " +
			"its session ends after 6s"},
		{&contacts{}, signUnseen, "TROUBLE: none of the servers of --servers has its connection"},
		{&contacts{silent: []string{"zk2:2181"}}, signUnseen, "no server that answers has its connection, and " +
			"zk2:2181 does not answer"},
		{&contacts{untold: true}, "", ""}, // it may be on the server that does not list its connections
		{&contacts{of: known(time.Second), untold: true}, signConnected, "it is connected"},
	} {
		switch s := c.known.signs(p); {
		case (s == nil) != (c.code == ""):
			t.Errorf("%v: %v, want %q", c.known, s, c.code)
		case s != nil && (s.Code != c.code || !strings.Contains(s.text(out), c.says)):
			t.Errorf("%v: %s, %q; want %s, %q", c.known, s.Code, s.text(out), c.code, c.says)
		}
	}
	for _, other := range []incumbent.Participant{{Recipe: "latch", Token: 5}, {Recipe: "latch", Owner: 7,
		Err: errors.New("refused")},
		{Recipe: machines.LeaseLine, Owner: 7, Token: 5}} {
		if s := (&contacts{}).signs(other); s != nil {
			t.Errorf("%v has signs: %v", other, s)
		}
	}
}

// answering returns the address of a server that answers everything with a text; nil: with nothing, and it closes
// nothing.
func answering(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(conn, make([]byte, 4))
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// All servers are asked, those that do not answer are named, and a session is where it was heard last.
func TestAllServersAreAsked(t *testing.T) {
	old := strings.Replace(listing, "lresp=27055151", "lresp=1", 1)
	closed := answering(t, "")
	if known := (&asker{servers: []string{closed}}).ask(t.Context()); known != nil {
		t.Errorf("a server that lists nothing knows %v", known)
	}
	known := (&asker{servers: []string{answering(t, old), answering(t, listing), closed, "127.0.0.1:1"}}).ask(
		t.Context())
	if known == nil || known.of[0x100019cc54e0000].silent != 3723*time.Millisecond || !known.untold ||
		len(known.silent) != 1 || known.silent[0] != "127.0.0.1:1" {
		t.Errorf("%v", known)
	}
}

// A real server lists the connection of a session that is there, and no longer when it has ended. It closes the
// connection a moment after its answer.
func TestARealServerListsConnections(t *testing.T) {
	realzk.Require(t)
	s := realzk.Start(t, realzk.Options{})
	c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: s.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WaitConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := incumbent.Participant{Recipe: "latch", Owner: c.SessionID(), Token: 1, First: true}
	servers := &asker{servers: []string{s.Addr()}}
	if signs := servers.ask(t.Context()).signs(p); signs == nil || signs.Code != signConnected || signs.Timeout < 1000 {
		t.Errorf("a session that is connected has the signs %v", signs)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	signs, limit := servers.ask(t.Context()).signs(p), time.Now().Add(repeat.Enough)
	for signs != nil && signs.Code == signConnected && time.Now().Before(limit) {
		signs = servers.ask(t.Context()).signs(p)
	}
	if signs == nil || signs.Code != signUnseen {
		t.Errorf("a session that has ended has the signs %v", signs)
	}
}

// While a line is vacant, watch says so after 10 s, and then whenever the time has doubled.
func TestAVacantLineIsSaidAgain(t *testing.T) {
	out, text := terminal(t)
	at := time.Unix(1_700_000_000, 0)
	p := changePrinter{app: &app{App: &cli.App{Out: out}},
		before: map[lineKey]lastChange{{recipe: "latch"}: {incumbent.Change{Vacant: true}, at, ""},
			{recipe: "lock"}: {incumbent.Change{}, at, ""}}, said: map[lineKey]time.Time{}}
	for s := time.Second; s <= 100*time.Second; s += time.Second {
		p.printVacant(at.Add(s))
	}
	lines := strings.Split(strings.TrimSpace(text()), "\n")
	if len(lines) != 4 || !strings.HasSuffix(lines[0], "for 10s") || !strings.HasSuffix(lines[3], "for 1m20s") {
		t.Errorf("%q", lines)
	}
}

// A directory in which nobody has ever been is vacant without a recipe. That ends with the first line in it: then
// nothing is still vacant, and the change says for how long it was.
func TestANewDirectoryIsVacantUntilALineBegins(t *testing.T) {
	for recipe, prefix := range map[string]string{"latch": "latch-", "election": ""} {
		out, text := terminal(t)
		at := time.Unix(1_700_000_000, 0)
		p := changePrinter{app: &app{App: &cli.App{Out: out}}, before: map[lineKey]lastChange{},
			said: map[lineKey]time.Time{}}
		looker := onlooker{lines: map[lineKey]lineSeen{}}
		first := incumbent.Participant{Recipe: recipe, Path: "/jobs/x/" + prefix + "0000000001", ID: "a", Token: 6,
			Owner: 7}
		again := first
		again.Owner = 8 // an ensemble that has lost its data gives the same tokens again
		for n, c := range []incumbent.Change{{Vacant: true}, {Recipe: recipe, Prefix: prefix, First: first},
			{Recipe: recipe, Prefix: prefix, First: first}, {Recipe: recipe, Prefix: prefix, First: again}} {
			now := at.Add(time.Duration(n) * 20 * time.Second)
			if printed := p.print(now, c, ""); printed != (n != 2) {
				t.Errorf("%s, change %d is printed: %v", recipe, n, printed)
			} else if printed {
				looker.changed(now, c)
			}
			p.printVacant(now.Add(15 * time.Second))
		}
		if got := text(); strings.Count(got, "still vacant") != 1 || strings.Count(got, "vacant for 20s before") != 1 ||
			strings.Count(got, `"a" was first for`) != 1 {
			t.Errorf("%s:\n%s", recipe, got)
		}
		if seen := looker.lines[keyOf(recipe, prefix)]; len(looker.lines) != 1 || seen.changes != 2 ||
			!seen.vacant.IsZero() {
			t.Errorf("%s: exported: %+v", recipe, looker.lines)
		}
	}
}

// Rows have at most 80 columns, names come before nodes, and a long name puts session and node on a line of their own.
func TestRowsOfAStatus(t *testing.T) {
	guid := "/jobs/x/_c_00000000-0000-4000-8000-000000000000-"
	node := func(id string, first bool) incumbent.Participant {
		return incumbent.Participant{Recipe: "latch", Prefix: "latch-", Path: guid + "latch-0000000001", ID: id,
			Token: 4294967302, Owner: 0x100019cc54e0000,
			First: first, Created: time.Now().Add(-3*time.Hour - 12*time.Minute)}
	}
	for _, c := range []struct {
		id   string
		want []string
	}{
		{"host/12345", []string{`  1  "host/12345"  3h12m    4294967302  0x100019cc54e0000  latch-0000000001`}},
		{strings.Repeat("long", 8), []string{`  1  "` + strings.Repeat("long", 8) + `"  3h12m    4294967302`,
			"     session 0x100019cc54e0000, node latch-0000000001"}},
	} {
		out, text := terminal(t)
		(&app{App: &cli.App{Out: out}}).showRows(incumbent.Line{Participants: []incumbent.Participant{node(c.id,
			true)}})
		lines := strings.Split(strings.TrimSuffix(text(), "\n"), "\n")
		if strings.Join(lines[1:], "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s", text())
		}
		for _, line := range lines {
			if len(line) > maxColumns {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	}
	for d, want := range map[time.Duration]string{-time.Second: "0s", 59 * time.Second: "59s",
		61 * time.Second: "1m1s", 25 * time.Hour: "1d1h"} {
		if got := ago(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}
