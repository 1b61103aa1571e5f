package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// zkServer is incumbent zk --control, as a program of its own. A test that may import zkmem needs none of this.
type zkServer struct {
	t       *testing.T
	Address string // for ZooKeeper's clients
	Control string // the URL for the test
}

// startServer starts the server. It ends with the test.
func startServer(t *testing.T, program string) *zkServer {
	t.Helper()
	cmd := exec.Command(program, "zk", "--json", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	s := &zkServer{t: t}
	if err := json.NewDecoder(out).Decode(s); err != nil { // the first line
		t.Fatal(err)
	}
	return s
}

// get reads an answer into a value.
func (s *zkServer) get(path string, into any) {
	s.t.Helper()
	s.ask(http.MethodGet, path, "", into)
}

func (s *zkServer) post(path, body string) {
	s.t.Helper()
	s.ask(http.MethodPost, path, body, &struct{}{})
}

func (s *zkServer) ask(method, path, body string, into any) {
	s.t.Helper()
	request, err := http.NewRequest(method, s.Control+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: enough}
	answer, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, into)
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		s.t.Fatalf("%s %s: %s: %s: %v", method, path, answer.Status, text, err)
	}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func (s *zkServer) connect() (*zk.Conn, <-chan zk.Event) {
	s.t.Helper()
	conn, events, err := zk.Connect([]string{s.Address}, 10*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(conn.Close)
	return conn, events
}

// reconnecting reports whether a request failed because the client has no connection, or has lost the one that it had.
func reconnecting(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrSessionExpired) ||
		errors.Is(err, zk.ErrNoServer) ||
		errors.Is(err, zk.ErrSessionMoved)
}

// state is a part of what GET /v1/state answers.
type state struct {
	Sessions []struct {
		ID         string
		Ephemerals []string
	}
}

// connected asks until the client has a connection for it.
func connected(ask func() error) error {
	err := ask()
	for limit := time.Now().Add(enough); reconnecting(err) && time.Now().Before(limit); {
		err = ask()
	}
	return err
}

func TestGo(t *testing.T) {
	incumbent := program(t)
	t.Run("the lease ends with the session", func(t *testing.T) {
		server := startServer(t, incumbent)
		client, events := server.connect()
		if _, err := client.Create("/lease", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		var now state
		server.get("/v1/state", &now)
		if len(now.Sessions) != 1 || !slices.Equal(now.Sessions[0].Ephemerals, []string{"/lease"}) {
			t.Fatalf("%+v", now)
		}
		server.post("/v1/expire", fmt.Sprintf(`{"session": %q}`, now.Sessions[0].ID))
		for patience := time.After(enough); ; {
			select {
			case event := <-events:
				if event.State != zk.StateExpired {
					continue
				}
			case <-patience:
				t.Fatal("the client has not lost its session")
			}
			break
		}
		var there bool
		err := connected(func() (err error) {
			there, _, err = client.Exists("/lease") // by the client's next session, which may begin only now
			return err
		})
		if err != nil || there {
			t.Errorf("the lease is there: %t, %v", there, err)
		}
	})
	t.Run("a write may be done though its reply is lost", func(t *testing.T) {
		server := startServer(t, incumbent)
		client, _ := server.connect()
		server.post("/v1/next", `{"op": "create", "path": "/once", "action": "cutAfter"}`)
		if _, err := client.Create("/once", []byte("x"), 0, zk.WorldACL(zk.PermAll)); !errors.Is(err,
			zk.ErrConnectionClosed) {
			t.Fatal(err)
		}
		var data []byte
		err := connected(func() (err error) {
			data, _, err = client.Get("/once") // on the next connection, which may begin only now
			return err
		})
		if err != nil || string(data) != "x" {
			t.Errorf("%q %v", data, err)
		}
	})
}
