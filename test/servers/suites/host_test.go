//go:build unix

package suites

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

// hosted asks the hub to host a server with a zoo.cfg, and returns its first answer. end closes the connection, and
// returns when the hub has.
func hosted(t *testing.T, h *hub, zooCfg string) (answer string, end func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "zoo.cfg")
	if err := os.WriteFile(file, []byte(zooCfg), 0o600); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", h.addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := json.NewEncoder(conn).Encode(opening{Args: []string{file}}); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	if answer, err = in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(answer), func() {
		t.Helper()
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if more, err := in.ReadString('\n'); err == nil {
			t.Errorf("the hub says %q at the end", more)
		}
	}
}

// The hub listens for a server that has no process. When its connection has ended, nobody listens at its port, and a
// server with the same directory may have the port again, with what was stored.
func TestAServerInTheHub(t *testing.T) {
	h := newHub(t)
	dir := t.TempDir()
	settings := "tickTime=500\ndataDir=" + dir + "\nclientPort=%s\n"
	port, end := hosted(t, h, fmt.Sprintf(settings, "0"))
	addr := net.JoinHostPort("127.0.0.1", port)
	p := &process{t: t, addr: addr}
	if _, err := p.connect().Create("/a", []byte("x"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	end()
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Errorf("%s is listened at after the end", addr)
	}
	again, end := hosted(t, h, fmt.Sprintf(settings, port))
	if again != port {
		t.Errorf("port %s, want %s", again, port)
	}
	if data, _, err := p.connect().Get("/a"); err != nil || string(data) != "x" {
		t.Errorf("after a restart: %q %v", data, err)
	}
	end()
}

func TestAServerThatCannotBeHosted(t *testing.T) {
	h := newHub(t)
	answer, end := hosted(t, h, "tickTime=fast\n")
	if !strings.Contains(answer, "tickTime=fast: want milliseconds") {
		t.Errorf("the hub says %q", answer)
	}
	end()
}
