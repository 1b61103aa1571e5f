//go:build unix

package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

// What one server saved the next one loads: data and lists, but no node that ends with its session.
func TestZkLoadsAndSaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nodes")
	if err := os.WriteFile(file, []byte(`{"path": "/a", "data": "b25l"}`+"\n"+`{"path":"/a/b","acl":[{"Perms":1,"Scheme":"world","ID":"anyone"}]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		zk := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--json", "--load", file, "--save", file)
		zk.Prints("\n")
		client, err := incumbent.Open(within(t), incumbent.Config{Servers: zk.Objects()[0]["address"].(string)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Create("/a/e", nil).Ephemeral().Do(within(t)); err != nil {
			t.Error(err)
		}
		if node, err := client.Get("/a").Do(within(t)); err != nil || string(node.Data) != "one" {
			t.Errorf("round %d: /a has %q, %v", round, node.Data, err)
		}
		zk.Signal(syscall.SIGTERM)
		zk.Exits(0)
		_ = client.Close(within(t)) // its server has gone
		programtest.Contains(t, zk.Err.String(), "loaded 2 nodes", "saved 2 nodes")
	}
	saved, err := os.ReadFile(file)
	if err != nil || strings.Count(string(saved), "\n") != 2 || !strings.Contains(string(saved), `"Perms":1`) {
		t.Errorf("%s%v", saved, err)
	}
	if err := os.WriteFile(file, []byte(`{"path": "a"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--load", file).Exits(74)
	programtest.Contains(t, bad.Err.String(), "line 1: create \"a\": zkmem: bad arguments")
}

// A container and a node with a TTL come back as such, and a server without TTLs says what is missing.
func TestZkSavesKindsOfNodes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nodes")
	const lines = `{"path":"/c","acl":[{"Perms":31,"Scheme":"world","ID":"anyone"}],"container":true}` + "\n" +
		`{"path":"/c/plain","acl":[{"Perms":31,"Scheme":"world","ID":"anyone"}]}` + "\n" +
		`{"path":"/t","data":"eA==","acl":[{"Perms":31,"Scheme":"world","ID":"anyone"}],"ttlMs":3600000}` + "\n"
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	zk := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--json", "--ttl", "--load", file, "--save", file)
	zk.Prints("\n")
	zk.Signal(syscall.SIGTERM)
	zk.Exits(0)
	if saved, err := os.ReadFile(file); err != nil || string(saved) != lines {
		t.Errorf("%s%v", saved, err)
	}
	bad := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--load", file).Exits(74)
	programtest.Contains(t, bad.Err.String(), "line 3: create \"/t\"", "nodes with a TTL need --ttl")
}

func TestZkServesControl(t *testing.T) {
	zk := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--json", "--control", "127.0.0.1:0", "--tick", "1s", "--max-session-timeout", "3s")
	zk.Prints("\n")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	answer, err := client.Get(zk.Objects()[0]["control"].(string) + "/v1/state")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var state struct{ Address string }
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil || state.Address != zk.Objects()[0]["address"] {
		t.Error(state, err)
	}
	zk.Signal(syscall.SIGTERM)
	zk.Exits(0)
}
