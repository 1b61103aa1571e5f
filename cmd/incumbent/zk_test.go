//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"net"
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
	if err := os.WriteFile(file,
		[]byte(`{"path": "/a", "data": "b25l"}`+"\n"+
			`{"path":"/a/b","acl":[{"Perms":1,"Scheme":"world","ID":"anyone"}]}`+"\n"), 0o600); err != nil {
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
	zk := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--json", "--control", "127.0.0.1:0", "--tick", "1s",
		"--max-session-timeout", "3s")
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

// The first line has where the servers of an ensemble are, and a client goes from one to another when it is stopped.
func TestZkServesAnEnsemble(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nodes")
	zk := start(t, nil, "zk", "--ensemble", "3", "--listen", "127.0.0.1:0", "--json",
		"--control", "127.0.0.1:0", "--save", file)
	zk.Prints("\n")
	line := zk.Objects()[0]
	servers := line["servers"].([]any)
	addr := func(i int) string { return servers[i].(map[string]any)["address"].(string) }
	if len(servers) != 3 || line["address"] != addr(0)+","+addr(1)+","+addr(2) {
		t.Fatal(line)
	}
	client, err := incumbent.Open(within(t), incumbent.Config{Servers: line["address"].(string)})
	if err != nil {
		t.Fatal(err)
	}
	back := make(chan struct{})
	client.OnConnection(func(s incumbent.ConnectionState) {
		if s == incumbent.Reconnected {
			close(back)
		}
	})
	config, err := client.Get("/zookeeper/config").Do(within(t))
	if err != nil {
		t.Fatal(err)
	}
	programtest.Contains(t, string(config.Data), ";"+addr(0)+"\n", ";"+addr(1)+"\n", ";"+addr(2)+"\n")
	if _, err := client.Create("/kept", nil).Do(within(t)); err != nil {
		t.Fatal(err)
	}
	control := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	answer, err := control.Get(line["control"].(string) + "/v1/state")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var state struct{ Sessions []struct{ Server int } }
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil || len(state.Sessions) != 1 {
		t.Fatal(state, err)
	}
	body := strings.NewReader(fmt.Sprintf(`{"server":%d}`, state.Sessions[0].Server))
	stopped, err := control.Post(line["control"].(string)+"/v1/stop", "application/json", body)
	if err != nil || stopped.StatusCode != http.StatusOK {
		t.Fatal(stopped, err)
	}
	stopped.Body.Close()
	select {
	case <-back:
	case <-within(t).Done():
		t.Fatal("the client does not find the other servers")
	}
	_ = client.Close(within(t))
	zk.Signal(syscall.SIGTERM)
	zk.Exits(0)
	if saved, err := os.ReadFile(file); err != nil || !strings.Contains(string(saved), `"/kept"`) {
		t.Errorf("%s%v", saved, err)
	}
}

// The servers have ports that follow each other, and the configuration the host that is given.
func TestZkAdvertises(t *testing.T) {
	zk := start(t, nil, "zk", "--ensemble", "2", "--listen", "0.0.0.0:0", "--advertise", "localhost", "--json")
	zk.Prints("\n")
	servers := zk.Objects()[0]["servers"].([]any)
	_, port, err := net.SplitHostPort(servers[0].(map[string]any)["address"].(string))
	if err != nil {
		t.Fatal(err)
	}
	client, err := incumbent.Open(within(t), incumbent.Config{Servers: "127.0.0.1:" + port})
	if err != nil {
		t.Fatal(err)
	}
	config, err := client.Get("/zookeeper/config").Do(within(t))
	if err != nil || !strings.Contains(string(config.Data), ";localhost:"+port+"\n") {
		t.Errorf("%s%v", config.Data, err)
	}
	_ = client.Close(within(t))
	zk.Signal(syscall.SIGTERM)
	zk.Exits(0)
}

func TestEnsemblesThatZkRefuses(t *testing.T) {
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"--ensemble", "10"}, "--ensemble is 10: want 1 to 9 servers"},
		{[]string{"--ensemble", "-1"}, "--ensemble is -1: want 1 to 9 servers"},
		{[]string{"--advertise", "zk"}, "--advertise needs --ensemble"},
		{[]string{"--ensemble", "3", "--advertise", "zk:2181"}, "want a host without a port"},
		{[]string{"--ensemble", "3", "--listen", "127.0.0.1:65534"}, "server 3 would have port 65536"},
		{[]string{"--ensemble", "3", "--listen", "127.0.0.1:http"}, "want a number as the port"},
	} {
		zk := start(t, nil, append([]string{"zk"}, test.args...)...).Exits(64)
		programtest.Contains(t, zk.Err.String(), test.says)
	}
}
