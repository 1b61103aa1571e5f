//go:build unix

package suites

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// process is a server as a harness starts it.
type process struct {
	t    *testing.T
	addr string
	hub  string
	args []string
	cmd  *exec.Cmd
}

// ensembleOf writes the configurations of servers and returns their processes, which do not run yet.
func ensembleOf(t *testing.T, size int, hub string) (all []*process) {
	t.Helper()
	base := t.TempDir()
	var lines string
	for id := range size {
		lines += fmt.Sprintf("server.%d=127.0.0.1:%d:%d\n", id+1, 2*id+1, 2*id+2)
	}
	if size == 1 {
		lines = ""
	}
	for id := range size {
		addr, err := zkmem.FreeAddr()
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(addr)
		dir := filepath.Join(base, fmt.Sprint(id+1))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"myid": fmt.Sprintln(id + 1),
			"zoo.cfg": fmt.Sprintf("tickTime=500\ndataDir=%s\nclientPort=%s\n\n# more\n%s", dir, port, lines)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all,
			&process{t: t, addr: addr, hub: hub, args: []string{"-Dx=y", "Main", filepath.Join(dir, "zoo.cfg")}})
	}
	return all
}

func (p *process) start() {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.Command(self, p.args...)
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), hubVariable+"="+p.hub), os.Stderr
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
}

// end ends the process by a signal.
func (p *process) end(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait() // its status is the signal's
}

// until waits until a server serves, or does not.
func (p *process) until(serves bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), repeat.Enough)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		answer, err := realzk.Probe(p.addr, "srvr")
		if (err == nil && strings.Contains(answer, "Mode:")) == serves {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			p.t.Fatalf("%s serves: want %v; %q %v", p.addr, serves, answer, err)
		}
	}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func (p *process) connect() *zk.Conn {
	p.t.Helper()
	conn, _, err := zk.Connect([]string{p.addr}, 10*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(conn.Close)
	return conn
}

// Servers of one ensemble have one history, and serve while a quorum of their processes runs.
func TestProcessesOfAnEnsemble(t *testing.T) {
	h := newHub(t)
	all := ensembleOf(t, 3, h.addr())
	all[0].start()
	all[1].start()
	all[0].until(true)
	all[1].until(true)
	one := all[0].connect()
	if _, err := one.Create("/a", []byte("x"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	config, _, err := one.Get("/zookeeper/config")
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range all {
		if named := strings.Contains(string(config), ";"+p.addr+"\n"); named != (i < 2) {
			t.Errorf("the configuration names %s: %v\n%s", p.addr, named, config)
		}
	}
	all[1].end(syscall.SIGKILL)
	all[0].until(false)
	all[2].start()
	all[0].until(true)
	if data, _, err := all[2].connect().Get("/a"); err != nil || string(data) != "x" {
		t.Errorf("%q %v", data, err)
	}
	for _, p := range []*process{all[0], all[2]} {
		p.end(syscall.SIGTERM)
	}
	for _, p := range all {
		p.until(false)
	}
	all[0].start()
	all[1].start()
	all[1].until(true)
	if data, _, err := all[1].connect().Get("/a"); err != nil || string(data) != "x" {
		t.Errorf("after a restart of all: %q %v", data, err)
	}
}

// A harness may start servers on the same ports with other directories: those have nothing yet.
func TestAnotherDirectoryIsAnotherEnsemble(t *testing.T) {
	h := newHub(t)
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, c := range []struct {
		id      string
		servers []string
	}{{"", nil}, {"1", []string{"server.1=h:1:2", "server.2=h:3:4"}}} {
		find := func(dir string) *server {
			s, err := h.find(config{Dir: dir, Servers: c.servers, ID: c.id})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		first, again, other := find(dirs[0]), find(dirs[0]), find(dirs[1])
		if first != again || first == other {
			t.Errorf("servers %v: the same %v, another %v", c.servers, first == again, first != other)
		}
	}
}

func TestAServerThatTheEnsembleDoesNotHave(t *testing.T) {
	if _, err := newHub(t).join(config{Dir: t.TempDir(), Servers: []string{"server.1=h:1:2"}, ID: "2"}); err == nil ||
		!strings.Contains(err.Error(), `myid is "2"`) {
		t.Error(err)
	}
}

func TestConfigurations(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "zoo.cfg")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("\ntickTime=2000\nsyncLimit=4\nminSessionTimeout=900\nmaxSessionTimeout=-1\nreconfigEnabled=true\n" +
		"dataDir=" + dir + "\nclientPort=2181\n")
	c, err := readConfig([]string{"-cp", "x", "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:D/In=",
		"-Dzookeeper.extendedTypesEnabled=true", "Main", file})
	if err != nil || c.Port != "2181" || c.Dir != dir || c.Tick != 2000 || c.Super != "super:D/In=" || !c.TTL ||
		!c.Reconfig || c.Sync != 4 {
		t.Errorf("%+v %v", c, err)
	}
	if o := c.options(); o.MinSessionTimeout != 900*time.Millisecond || o.MaxSessionTimeout != 0 {
		t.Errorf("session timeouts from %s to %s", o.MinSessionTimeout, o.MaxSessionTimeout)
	}
	c, err = readConfig([]string{"-Dznode.container.checkIntervalMs=50", "-Djute.maxbuffer=4096", file})
	if o := c.options(); err != nil || o.ContainerInterval != 50*time.Millisecond || o.MaxFrame != 4096 {
		t.Errorf("%+v %v", o, err)
	}
	_, err = readConfig([]string{"-Djute.maxbuffer=big", file})
	if err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Error(err)
	}
	for text, want := range map[string]string{"tickTime=fast\n": "want milliseconds", "syncLimit=0\n": "want ticks",
		"clientPort=1\n": "no dataDir", "what\n": "no name=value",
		"clientPort=1\ndataDir=" + dir + "\nserver.1=a:1:2\n": "myid"} {
		write(text)
		if _, err := readConfig([]string{file}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	write("clientPort=1\ndataDir=" + dir +
		"\nauthProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n")
	jaas := filepath.Join(dir, "jaas.conf")
	if err := os.WriteFile(jaas, []byte("Server {\n  X required\n  user_ann=\"a b\" user_bob=\"\";\n};\n"+
		"Client {\n  X required user_carol=\"c\";\n};\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err = readConfig([]string{"-Djava.security.auth.login.config=" + jaas, file})
	if err != nil || !maps.Equal(c.options().SASLUsers, map[string]string{"ann": "a b", "bob": ""}) {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := readConfig(nil); err == nil {
		t.Error("no error without arguments")
	}
}
