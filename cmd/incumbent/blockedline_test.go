//go:build unix

package main_test

import (
	"path"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// blocked puts a node that no session owns at the head of the line.
func blocked(t *testing.T, srv *zkmem.Server) (node string) {
	t.Helper()
	for _, dir := range []string{"/jobs", line} {
		if _, err := srv.Create(dir, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	node, err := srv.Create(line+"/_c_00000000-0000-4000-8000-000000000000-latch-", []byte("former"),
		zkmem.PersistentSequential)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// Nobody leads behind a node that no session owns: every command says so, and what to do.
func TestANodeThatNoSessionOwnsBlocksItsLine(t *testing.T) {
	srv := zkmem.Start(t)
	node := blocked(t, srv)
	participant(t, srv, line, "a")
	says := `nobody can lead: "former"'s node ` + path.Base(node) + " is persistent, no session owns it; delete it"

	out := start(t, srv, "status", line).Exits(0).Out.String()
	programtest.Contains(t, out, line+": 2 in line, "+says+"\n", "PERSISTENT: no session owns it")
	o := start(t, srv, "status", line, "--json").Exits(0).Objects()[0]
	if blocker, ok := o["blocker"].(map[string]any); !ok || blocker["node"] != node || blocker["persistent"] != true {
		t.Errorf("the blocker is %v", o["blocker"])
	}
	for _, one := range o["participants"].([]any) {
		if p := one.(map[string]any); p["first"] != false {
			t.Errorf("%v is first in a line in which nobody can lead", p)
		}
	}

	words, objects := start(t, srv, "watch", line), start(t, srv, "watch", line, "--json")
	words.Prints("  " + says + "\n")
	objects.Prints(`"event":"blocked","recipe":"latch","blocker":{`)
	waiting := elect(t, srv, "echo never", "--id", "b")
	waiting.Notes(`waiting in ` + line + ` as "b": 2 others in line, ` + says)

	start(t, srv, "resign", line, "--node", path.Base(node)).Exits(0)
	words.Prints(`"a" is first in line, token `)
	words.Prints("; blocked for ")
	objects.Prints(`"event":"first","recipe":"latch","first":{`)
	if events := objects.Objects(); events[len(events)-1]["previous"].(map[string]any)["node"] != node {
		t.Errorf("the last change does not say what was before: %v", events[len(events)-1])
	}
	for _, p := range []*programtest.Program{words, objects, waiting} {
		p.Signal(syscall.SIGTERM)
		p.Wait()
	}
}

// What blocks a line is deleted only if --node names it.
func TestResignDeletesABlockerOnlyByItsName(t *testing.T) {
	srv := zkmem.Start(t)
	node := blocked(t, srv)
	participant(t, srv, line, "a")
	p := start(t, srv, "resign", line).Exits(65)
	programtest.Contains(t, p.Err.String(), line+": nobody can lead: ", "; delete it with --node "+path.Base(node)+"\n",
		`--id "former" --node `+path.Base(node)+"  (persistent: no session owns it, only --node selects it)\n",
		`--id "a" --node `)
	start(t, srv, "resign", line, "--id", "former").Exits(65)
	inLine(t, srv, line, 2)
	out := start(t, srv, "resign", line, "--id", "former", "--node", path.Base(node)).Exits(0).Out.String()
	programtest.Contains(t, out, "deleted "+node, `1 in line, "a" is first in line with token `)
}
