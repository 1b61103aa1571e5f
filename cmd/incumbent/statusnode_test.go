//go:build unix

package main_test

import (
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An election on one node has no line: status shows whose node it is.
func TestStatusOfANode(t *testing.T) {
	srv := zkmem.Start(t)
	participant(t, srv, line, "somebody")
	session := srv.Sessions()[0].ID
	for path, mode := range map[string]zkmem.Mode{"/active": zkmem.Ephemeral, "/plain": zkmem.Persistent} {
		op := zkmem.Op{Code: zkmem.OpCreate, Path: path, Data: []byte("nn1\x1b"), Mode: mode, ACL: zkmem.OpenACL()}
		if _, err := srv.DoFor(session, op); err != nil {
			t.Fatal(err)
		}
	}
	out := start(t, srv, "status", "/active").Exits(0).Out.String()
	programtest.Contains(t, out, `/active: "nn1\x1b" has the node with token `, "it is connected", "IN LINE")
	plain := start(t, srv, "status", "/plain").Exits(0).Out.String()
	programtest.Contains(t, plain, "/plain: vacant, nobody is in line")
	object := start(t, srv, "status", "/active", "--json").Exits(0).Objects()[0]
	all := object["participants"].([]any)
	first := all[0].(map[string]any)
	if len(all) != 1 || object["vacant"] != false || first["recipe"] != "nodeelection" || first["id"] != "nn1\x1b" ||
		first["first"] != true || first["created"] == nil || first["node"] != "/active" {
		t.Errorf("%v", object)
	}
}

// At such a node watch, elect and lock say what it is, and end.
func TestANodeHasNoLine(t *testing.T) {
	srv := zkmem.Start(t)
	participant(t, srv, line, "somebody")
	op := zkmem.Op{Code: zkmem.OpCreate, Path: "/active", Data: []byte("nn1"), Mode: zkmem.Ephemeral,
		ACL: zkmem.OpenACL()}
	if _, err := srv.DoFor(srv.Sessions()[0].ID, op); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"watch", "/active"}, {"elect", "/active", "--", "true"},
		{"lock", "/active", "--", "true"}} {
		said := start(t, srv, args...).Exits(64).Err.String()
		programtest.Contains(t, said, `/active is an ephemeral node, which "nn1" has`, "incumbent status /active",
			"Client.NodeElection")
	}
}
