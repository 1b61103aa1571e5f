//go:build unix

package main_test

import (
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// elect and lock say that a line is closed to them, with its list and the flag, and that what they create is open.
func TestAClosedLineIsSaid(t *testing.T) {
	srv := zkmem.Start(t)
	for _, dir := range []string{"/jobs", line} {
		if _, err := srv.Create(dir, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	list := []zkmem.ACL{{Perms: zkmem.PermRead, Scheme: "world", ID: "anyone"}}
	if _, err := srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: line, ACL: list, Version: zkmem.AnyVersion}); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"elect", "lock"} {
		p := start(t, srv, command, line, "--", "echo", "never").Exits(77)
		programtest.Contains(t, p.Err.String(),
			"what is created is open: every client of the ensemble may delete it", "--acl",
			"not authorised: "+line,
			"the access list of "+line+" does not admit this client for this, it has world:anyone:r",
			"a list that has all of them: --acl\n")
	}
}

// What --acl says is the access list of what elect creates.
func TestTheGivenAccessListIsCreated(t *testing.T) {
	srv := zkmem.Start(t)
	p := elect(t, srv, "echo up; read line", "--acl", "world:anyone:rcd,ip:127.0.0.1:cdrwa")
	p.Prints("up")
	node, _ := owner(t, srv, line)
	for _, path := range []string{line, node} {
		acl, _, err := srv.Snapshot().ACL(path)
		if err != nil || len(acl) != 2 || acl[0].Scheme != "world" ||
			acl[0].Perms != zkmem.PermRead|zkmem.PermCreate|zkmem.PermDelete || acl[1].ID != "127.0.0.1" {
			t.Errorf("%s: %v, %v", path, acl, err)
		}
	}
	p.In.Close()
	p.Exits(1)
	programtest.Contains(t, elect(t, srv, "true", "--acl", "auth::cdrwa").Exits(78).Said(),
		"the access list is not accepted")
}
