package control

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// members is an ensemble of three and the HTTP client that controls it.
type members struct {
	*remote
	e *zkmem.Ensemble
}

func serveMembers(t *testing.T) members {
	t.Helper()
	e := zkmem.StartEnsemble(t, 3, options)
	return members{serveThese(t, e.Servers()[0], Members(e), ""), e}
}

// state returns what the server with a number is, and who leads.
func (m members) state(number int) (one map[string]any, leader int) {
	m.t.Helper()
	_, state := m.ask(http.MethodGet, "/v1/state", "", nil)
	return state["servers"].([]any)[number-1].(map[string]any), int(state["leader"].(float64))
}

// is compares parts of a server's state.
func (m members) is(number int, want map[string]any) {
	m.t.Helper()
	one, _ := m.state(number)
	for name, value := range want {
		if one[name] != value {
			m.t.Errorf("server %d: %s is %v, want %v", number, name, one[name], value)
		}
	}
}

// turns waits until a server has a mode.
func (m members) turns(number int, mode string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), enough)
	defer cancel()
	if err := m.e.Servers()[number-1].WaitFor(ctx, func(v *zkmem.View) bool { return v.Mode() == mode }); err != nil {
		m.t.Fatalf("server %d is no %q: %v", number, mode, err)
	}
}

// of is the body of a request about one server.
func of(number int, more ...string) string {
	return fmt.Sprintf(`{"server":%d%s}`, number, strings.Join(more, ""))
}

// at connects a client to one server.
func (m members) at(number int) (*zk.Conn, <-chan zk.Event) {
	m.t.Helper()
	r := *m.remote
	r.srv = m.e.Servers()[number-1]
	return r.client()
}

// follower returns the number of a server that does not lead.
func (m members) follower() int {
	_, leader := m.state(1)
	return leader%3 + 1
}

func TestControlIsolatesAndReconnects(t *testing.T) {
	m := serveMembers(t)
	n := m.follower()
	_, events := m.at(n)
	m.post("/v1/isolate", of(n))
	m.is(n, map[string]any{"isolated": true, "running": true})
	m.turns(n, "") // after SyncLimit ticks
	m.await(events, zk.StateDisconnected)
	m.post("/v1/reconnect", of(n))
	m.is(n, map[string]any{"isolated": false, "mode": "follower"})
	m.await(events, zk.StateHasSession)
}

func TestControlDeposes(t *testing.T) {
	m := serveMembers(t)
	_, before := m.state(1)
	status, said := m.ask(http.MethodPost, "/v1/depose", "", nil)
	_, leader := m.state(1)
	if status != 200 || said["deposed"] != float64(before) || said["leader"] != float64(leader) || leader == before {
		t.Errorf("%d %v, and %d leads after %d", status, said, leader, before)
	}
	m.is(before, map[string]any{"isolated": true, "mode": "leader"})
	m.post("/v1/heal", "")
	m.is(before, map[string]any{"isolated": false, "mode": "follower"})
}

func TestControlStopsAndRestartsOne(t *testing.T) {
	m := serveMembers(t)
	_, leader := m.state(1)
	conn, events := m.at(leader)
	if _, err := conn.Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	before, _ := m.state(leader)
	m.post("/v1/stop", of(leader))
	m.await(events, zk.StateDisconnected)
	m.is(leader, map[string]any{"running": false, "mode": ""})
	if _, now := m.state(1); now == leader || now == 0 {
		t.Errorf("%d leads after %d has stopped", now, leader)
	}
	m.post("/v1/restart", of(leader))
	m.is(leader, map[string]any{"running": true, "mode": "follower", "address": before["address"]})
	m.await(events, zk.StateHasSession)
	if there, _, err := conn.Exists("/e"); !there || err != nil {
		t.Error("the session's node has gone:", err)
	}
}

func TestControlStopsAndRestartsAll(t *testing.T) {
	m := serveMembers(t)
	m.post("/v1/stop", "")
	for n := 1; n <= 3; n++ {
		m.is(n, map[string]any{"running": false})
	}
	status, said := m.ask(http.MethodGet, "/v1/tree", "", nil)
	if status != 409 || !strings.Contains(said["error"].(string), "?server=1") {
		t.Error(status, said)
	}
	m.post("/v1/restart", "")
	if _, leader := m.state(1); leader == 0 {
		t.Error("nobody leads")
	}
}

func TestControlPausesAndResumes(t *testing.T) {
	m := serveMembers(t)
	_, leader := m.state(1)
	m.post("/v1/pause", of(leader))
	m.is(leader, map[string]any{"paused": true})
	next := 3 // of two with the same history, the one with the higher number is elected
	if leader == 3 {
		next = 2
	}
	m.turns(next, "leader")
	m.post("/v1/resume", of(leader))
	m.turns(leader, "follower")
	m.is(leader, map[string]any{"paused": false})
}

// A server that lags shows an older state than the leader, until the lag ends.
func TestControlLags(t *testing.T) {
	m := serveMembers(t)
	n := m.follower()
	m.post("/v1/lag", of(n, `,"delay":"forever"`))
	if _, err := m.e.Leader().Create("/late", nil, zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		query  string
		status int
	}{{"", 200}, {fmt.Sprintf("&server=%d", n), 404}} {
		if status, said := m.ask(http.MethodGet, "/v1/tree?path=/late"+test.query, "", nil); status != test.status {
			t.Errorf("%q: %d %v", test.query, status, said)
		}
	}
	m.post("/v1/lag", of(n, `,"delay":"0s"`))
	if status, said := m.ask(http.MethodGet, fmt.Sprintf("/v1/tree?path=/late&server=%d", n), "", nil); status != 200 {
		t.Error(status, said)
	}
}

// A server leaves the configuration, and joins it again with its address.
func TestControlRemovesAndAdds(t *testing.T) {
	m := serveMembers(t)
	n := m.follower()
	config := func() string {
		_, state := m.ask(http.MethodGet, "/v1/state", "", nil)
		text, _, _ := strings.Cut(state["config"].(string), "version=")
		return text
	}
	before := config()
	m.post("/v1/remove", of(n))
	if text := config(); strings.Contains(text, fmt.Sprintf("server.%d=", n)) {
		t.Error(text)
	}
	m.post("/v1/add", of(n))
	if text := config(); text != before || !strings.Contains(text, m.e.Servers()[n-1].Addr()) {
		t.Errorf("%q, and before %q", text, before)
	}
}

// What concerns clients and data concerns all servers, or the one that is named.
func TestControlOfOneServersClients(t *testing.T) {
	m := serveMembers(t)
	one, first := m.at(1)
	two, second := m.at(2)
	_, state := m.ask(http.MethodGet, "/v1/state?server=2", "", nil)
	sessions := state["sessions"].([]any)
	if len(sessions) != 1 || sessions[0].(map[string]any)["server"] != float64(2) ||
		state["address"] != m.e.Servers()[1].Addr() {
		t.Fatal(state)
	}
	_, all := m.ask(http.MethodGet, "/v1/state", "", nil)
	if len(all["sessions"].([]any)) != 2 || all["address"] != m.e.Addr() || all["connections"] != float64(2) {
		t.Error(all)
	}
	m.post("/v1/next", of(2, `,"op":"exists","action":"refuse","code":-110`))
	if _, _, err := one.Exists("/"); err != nil {
		t.Error("the other server refuses:", err)
	}
	if _, _, err := two.Exists("/"); err != zk.ErrNodeExists {
		t.Error("the server does not refuse:", err)
	}
	m.post("/v1/refuse", of(2, `,"refuse":true`))
	m.post("/v1/cut", `{"session":"`+sessions[0].(map[string]any)["id"].(string)+`"}`)
	m.await(second, zk.StateDisconnected)
	m.at(1) // is not refused
	m.post("/v1/refuse", of(2, `,"refuse":false`))
	m.await(second, zk.StateHasSession)
	m.post("/v1/freeze", of(2, `,"direction":"out"`))
	if _, _, err := one.Exists("/"); err != nil {
		t.Error("the other server stands still:", err)
	}
	m.post("/v1/heal", "")
	if _, _, err := two.Exists("/"); err != nil {
		t.Error(err)
	}
	m.post("/v1/expire", `{"session":"`+fmt.Sprintf("0x%x", one.SessionID())+`"}`)
	m.await(first, zk.StateExpired)
	m.await(first, zk.StateHasSession)
	m.post("/v1/clock", `{"by":"51s"}`)
	m.await(first, zk.StateExpired)
	m.await(second, zk.StateExpired)
	m.await(first, zk.StateHasSession)
	m.post("/v1/wipe", "")
	m.await(first, zk.StateExpired)
}

// The stream has the requests of one server, or those of all with the numbers of the servers.
func TestTheStreamOfAnEnsemble(t *testing.T) {
	m := serveMembers(t)
	one, _ := m.at(1)
	two, _ := m.at(2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	follow := func(query string) *bufio.Scanner {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, m.base+"/v1/requests"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := m.http.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stream.Body.Close() })
		return bufio.NewScanner(stream.Body)
	}
	all, second := follow(""), follow("?server=2")
	for _, conn := range []*zk.Conn{one, two} {
		if _, _, err := conn.Get("/zookeeper"); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		lines *bufio.Scanner
		want  []int
	}{{all, []int{1, 2}}, {second, []int{2}}} {
		for _, want := range test.want {
			var line struct {
				Op     string
				Server int
			}
			for line.Op != "getData" {
				if !test.lines.Scan() {
					t.Fatal("the stream ended:", test.lines.Err())
				}
				if err := json.Unmarshal(test.lines.Bytes(), &line); err != nil {
					t.Fatal(err)
				}
			}
			if line.Server != want {
				t.Errorf("server %d, want %d", line.Server, want)
			}
		}
	}
}

// What an ensemble cannot do gets a 4xx that says so, and changes nothing.
func TestMistakesAboutServers(t *testing.T) {
	m := serveMembers(t)
	down := m.follower()
	m.post("/v1/stop", of(down))
	_, leader := m.state(1)
	for _, test := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/v1/isolate", "", 405, "/v1/isolate wants POST, and got GET"},
		{"POST", "/v1/isolate", "", 400, "server is missing: want the number of a server, 1 to 3"},
		{"POST", "/v1/isolate", of(0), 404, "there is no server 0: the ensemble has 1 to 3"},
		{"POST", "/v1/reconnect", of(4), 404, "there is no server 4: the ensemble has 1 to 3"},
		{"POST", "/v1/stop", of(-1), 404, "there is no server -1: the ensemble has 1 to 3"},
		{"POST", "/v1/next", of(9, `,"action":"ignore"`), 404, "there is no server 9: the ensemble has 1 to 3"},
		{"POST", "/v1/pause", `{"server":"one"}`, 400, "the body: json: cannot unmarshal string"},
		{"GET", "/v1/state?server=9", "", 404, "there is no server 9: the ensemble has 1 to 3"},
		{"GET", "/v1/tree?server=one", "", 400, `server is "one": want the number of a server`},
		{"GET", "/v1/requests?server=9", "", 404, "there is no server 9: the ensemble has 1 to 3"},
		{"POST", "/v1/isolate", of(down), 409, "zkmem: the server is stopped: Restart it first"},
		{"POST", "/v1/lag", of(leader, `,"delay":"1s"`), 409, "zkmem: the server leads"},
		{"POST", "/v1/lag", of(down, `,"delay":"soon"`), 400, `delay is "soon": want a time of at most an hour`},
		{"POST", "/v1/lag", of(down, `,"delay":"-1s"`), 400, `delay is "-1s": want a time of at most an hour`},
		{"POST", "/v1/depose", of(leader), 400, `/v1/depose has no field "server": it has none`},
		{"POST", "/v1/depose", "", 409, "zkmem: the other servers are no quorum without the leader"},
		{"POST", "/v1/cut", of(1), 400, `/v1/cut has no field "server": it has session`},
		{"GET", "/v1/nothing", "", 404, "/v1/isolate"},
	} {
		status, said := m.ask(test.method, test.path, test.body, nil)
		if text, _ := said["error"].(string); status != test.status || !strings.Contains(text, test.says) {
			t.Errorf("%s %s %s: %d %q, want %d and %q", test.method, test.path, test.body, status, text,
				test.status, test.says)
		}
	}
	m.is(down, map[string]any{"running": false, "isolated": false})
	_, _ = m.at(leader)
	id := m.session()
	m.post("/v1/stop", of(6-down-leader))
	status, said := m.ask(http.MethodPost, "/v1/expire", `{"session":"`+id+`"}`, nil)
	text, _ := said["error"].(string)
	if status != 409 || !strings.Contains(text, "no leader has a quorum to end session") {
		t.Error(status, said)
	}
}

// A POST without a body is one without fields, whatever a client says of its type.
func TestARequestWithoutABody(t *testing.T) {
	m := serveMembers(t)
	for _, kind := range []string{"", "application/x-www-form-urlencoded", "application/json"} {
		status, said := m.ask(http.MethodPost, "/v1/stop", "", func(q *http.Request) {
			q.Header.Set("Content-Type", kind)
			if kind == "" {
				q.Header.Del("Content-Type")
			}
		})
		if status != 200 || said["done"] != true {
			t.Errorf("%q: %d %v", kind, status, said)
		}
	}
	status, said := m.ask(http.MethodPost, "/v1/restart", of(1), func(q *http.Request) { q.Header.Del("Content-Type") })
	text, _ := said["error"].(string)
	if status != 415 || text != `the body has Content-Type "": want application/json` {
		t.Errorf("%d %q", status, text)
	}
	m.is(1, map[string]any{"running": false})
}
