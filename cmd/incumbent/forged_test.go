//go:build unix

package main_test

import (
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// status, watch and its metrics name an order of numbers that ZooKeeper cannot have made.
func TestAForgedOrderIsShown(t *testing.T) {
	srv := zkmem.Start(t)
	guid := "/_c_00000000-0000-4000-8000-000000000000-latch-"
	for _, node := range []string{"/jobs", line, line + guid + "0000000007"} {
		if _, err := srv.Create(node, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	if out := start(t, srv, "status", line, "--json").Exits(0).Objects(); out[0]["forged"] != nil {
		t.Errorf("%v", out)
	}
	if _, err := srv.Create(line+guid+"0000000003", []byte("mallory"), zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
	p := start(t, srv, "watch", line, "--metrics", ":0")
	url := address(t, p, "metrics at")
	p.Prints("forged: \"mallory\"'s node ")
	wants(t, scrape(t, url), `incumbent_line_forged{path="/jobs/x",recipe="latch",prefix=""} 1`+"\n")
	programtest.Contains(t, start(t, srv, "status", line).Exits(0).Out.String(), "forged: \"mallory\"'s node ",
		"latch-0000000007 (token ")
	out := start(t, srv, "status", line, "--json").Exits(0).Objects()
	if forged, ok := out[0]["forged"].(map[string]any); !ok || forged["ahead"].(map[string]any)["id"] != "mallory" {
		t.Errorf("%v", out)
	}
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
}

// watch notices a forged number ahead of the first in line, while that stays first for who watches its node.
func TestWatchNoticesAForgedOrderBehindTheFirst(t *testing.T) {
	srv := zkmem.Start(t)
	guid := "/_c_00000000-0000-4000-8000-000000000000-latch-"
	for _, node := range []string{"/jobs", line, line + guid + "0000000007"} {
		if _, err := srv.Create(node, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, srv, "watch", line)
	p.Prints("persistent")
	if _, err := srv.Create(line+guid+"0000000003", []byte("mallory"), zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
	p.Prints("forged: \"mallory\"'s node ")
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
}
