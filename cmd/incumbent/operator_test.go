//go:build unix

package main_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const hostile = "\x1b]0;owned\a\x1b[31m<b>red</b>\u202e\n  9  latch  evil"

func TestStatus(t *testing.T) {
	srv := zkmem.Start(t)
	programtest.Contains(t, start(t, srv, "status", line).Exits(0).Out.String(),
		line+": vacant, nobody is in line: there is no such directory")
	if gone := start(t, srv, "status", line, "--json").Exits(0).Objects(); gone[0]["missing"] != true ||
		gone[0]["vacant"] != true {
		t.Errorf("%v", gone)
	}
	participant(t, srv, line, hostile)
	participant(t, srv, line, "plain")
	children := []string{"0", "lock-abc"}
	for _, name := range children {
		if _, err := srv.Create(line+"/"+name, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	fixed := line + "/_c_00000000-0000-4000-8000-000000000000-latch-0000000100"
	hidden := line + "/_c_00000000-0000-4000-8000-000000000000-latch-0000000101"
	for _, node := range []string{fixed, hidden} {
		if _, err := srv.Create(node, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	secret := []zkmem.ACL{{Perms: zkmem.PermAll, Scheme: "digest", ID: "x:y"}}
	if _, err := srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: hidden, ACL: secret, Version: zkmem.AnyVersion}); err !=
		nil {
		t.Fatal(err)
	}

	out := start(t, srv, "status", line).Exits(0).Out.String()
	programtest.Contains(t, out,
		line+`: 4 in line, "\x1b]0;owned\a\x1b[31m<b>red</b>\u202e\n  9  latch  evil" is first in line with token `,
		`"plain"`,
		"PERSISTENT: no session owns it", "unreadable: not authorised",
		"and 2 children that belong to no recipe of this library: ignored")
	if strings.ContainsAny(out, "\x1b\a\u202e") || strings.Count(out, "\n") != 14 {
		t.Errorf("what others wrote came out as it is: %q", out)
	}

	if lines := strings.Split(out, "\n"); !strings.HasPrefix(lines[1],
		"  it is connected: its server heard from it in the last ") {
		t.Errorf("status does not say whether the first is connected: %q", lines[1])
	}

	objects := start(t, srv, "status", line, "--json").Exits(0).Objects()
	if len(objects) != 1 || objects[0]["foreign"] != 2.0 || objects[0]["vacant"] != false ||
		objects[0]["missing"] != false {
		t.Fatalf("%v", objects)
	}
	all := objects[0]["participants"].([]any)
	first, third, fourth := all[0].(map[string]any), all[2].(map[string]any), all[3].(map[string]any)
	if first["id"] != hostile || first["first"] != true || !strings.HasPrefix(first["session"].(string), "0x") ||
		first["token"] == 0.0 || first["created"] == nil || first["signs"].(map[string]any)["code"] != "connected" {
		t.Errorf("first: %v", first)
	}
	if third["persistent"] != true || third["position"] != 3.0 || fourth["error"] == "" || fourth["persistent"] != nil {
		t.Errorf("third: %v, fourth: %v", third, fourth)
	}
}

func TestWatch(t *testing.T) {
	srv := zkmem.Start(t)
	words, objects := start(t, srv, "watch", line), start(t, srv, "watch", line, "--json")
	words.Prints("vacant: nobody is in line")
	objects.Prints(`"event":"vacant"`)
	a, b := participant(t, srv, line, "a"+hostile), participant(t, srv, line, "b")
	words.Prints(`"a\x1b]0;owned`)
	objects.Prints(`"event":"first"`)
	if err := a.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	words.Prints(`"b" is first in line, token `)
	words.Prints(" was first for ")
	objects.Prints(`"id":"b"`)
	if err := b.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	words.Prints(`vacant: nobody is in line; "b" was first for `)
	objects.Prints(`"event":"vacant","recipe":"latch"`)
	words.Signal(syscall.SIGINT)
	objects.Signal(syscall.SIGTERM)
	words.Exits(0)
	objects.Exits(0)
	if strings.ContainsAny(words.Out.String(), "\x1b\a\u202e") {
		t.Errorf("what others wrote came out as it is: %q", words.Out.String())
	}
	events := objects.Objects()
	last := events[len(events)-1]
	if previous, ok := last["previous"].(map[string]any); !ok || previous["id"] != "b" || last["previousMs"] == nil {
		t.Errorf("the last change does not say who was first before, and for how long: %v", last)
	}
}

func TestWatchTellsThatItSeesNothing(t *testing.T) {
	srv := zkmem.Start(t)
	words, objects := start(t, srv, "watch", line), start(t, srv, "watch", line, "--json")
	words.Prints("vacant: nobody is in line")
	objects.Prints(`"event":"vacant"`)
	for _, s := range srv.Sessions() {
		srv.Disconnect(s.ID)
	}
	words.Notes("the connection is lost: who is first is not known")
	words.Notes("connected again")
	objects.Prints(`"event":"connection","state":"SUSPENDED"`)
	objects.Prints(`"event":"connection","state":"RECONNECTED"`)
	participant(t, srv, line, "a")
	words.Prints(`"a" is first in line, token `)
	objects.Prints(`"event":"first"`)
	words.Signal(syscall.SIGINT)
	objects.Signal(syscall.SIGINT)
	words.Exits(0)
	objects.Exits(0)
	if n := len(objects.Objects()); n != 4 {
		t.Errorf("%d objects, want a vacancy, two of the connection and a leader\n%s", n, objects.Said())
	}
}

func TestResignMovesLeadership(t *testing.T) {
	srv := zkmem.Start(t)
	participant(t, srv, line, "a")
	participant(t, srv, line, "b")
	first, _ := owner(t, srv, line)

	dry := start(t, srv, "resign", line, "--dry-run").Exits(0)
	programtest.Contains(t, dry.Out.String(), "would delete "+first, `of "a"`)
	dry = start(t, srv, "resign", line, "--dry-run", "--json").Exits(0)
	if o := dry.Objects()[0]; o["dryRun"] != true || o["deleted"].(map[string]any)["node"] != first {
		t.Errorf("%v", o)
	}
	if now, _ := owner(t, srv, line); now != first {
		t.Fatal("a dry run deleted something")
	}

	out := start(t, srv, "resign", line).Exits(0).Out.String()
	programtest.Contains(t, out, "deleted "+first, `"b" is first in line`)
	inLine(t, srv, line, 2) // a queues again
	start(t, srv, "resign", line, "--id", "a").Exits(0)
	inLine(t, srv, line, 2)
	programtest.Contains(t, start(t, srv, "status", line).Exits(0).Out.String(), `"b" is first in line`)
}

func TestResignRefusesWhatIsNotClear(t *testing.T) {
	srv := zkmem.Start(t)
	p := start(t, srv, "resign", line).Exits(65)
	programtest.Contains(t, p.Err.String(), "is vacant")
	participant(t, srv, line, "twin")
	participant(t, srv, line, "twin")
	participant(t, srv, line, hostile)
	node, _ := owner(t, srv, line)
	name := node[len(line)+1:]
	for _, args := range [][]string{
		{"--id", "nobody"}, {"--id", "twin"}, {"--id", ""}, {"--node", "no-such"}, {"--id", "other", "--node", name},
	} {
		p := start(t, srv, append([]string{"resign", line}, args...)...).Exits(65)
		programtest.Contains(t, p.Err.String(), "\n  --id \"twin\" --node "+name+"  (first)")
		if strings.ContainsAny(p.Err.String(), "\x1b\a\u202e") {
			t.Errorf("what others wrote came out as it is: %q", p.Err.String())
		}
	}
	if now, _ := owner(t, srv, line); now != node {
		t.Fatal("something was deleted")
	}
	start(t, srv, "resign", line, "--id", "twin", "--node", name).Exits(0)
	if now, _ := owner(t, srv, line); now == node {
		t.Fatal("nothing was deleted")
	}
}

func TestZkServesClients(t *testing.T) {
	zk := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--json")
	zk.Prints("\n")
	address := zk.Objects()[0]["address"].(string)
	p := start(t, nil, "elect", "--servers", address, line, "--", "echo", "led").Exits(0)
	programtest.Contains(t, p.Out.String(), "led\n")
	programtest.Contains(t, start(t, nil, "zk", "--listen", address).Exits(69).Err.String(), "cannot listen")
	zk.Signal(syscall.SIGTERM)
	zk.Exits(0)
	programtest.Contains(t, zk.Err.String(), "nothing is kept")
}
