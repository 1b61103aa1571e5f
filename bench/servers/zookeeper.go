package servers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// heap is that of each server. Scenarios with many paths or long listings need much more than a server in a test.
const heap = "-Xmx3g"

// ZooKeeper starts n servers of a release of ZooKeeper: one alone, or an ensemble. It returns when all of them serve.
// If they are not installed, the error is a MissingError.
func ZooKeeper(ctx context.Context, release realzk.Release, n int) (*Group, error) {
	if err := haveZooKeeper(release); err != nil {
		return nil, err
	}
	g, err := newGroup()
	if err != nil {
		return nil, err
	}
	addrs, err := ports(3 * n)
	if err != nil {
		return g.found(err)
	}
	g.Addrs = addrs[:n]
	for i := range n {
		if err := g.launch(release, i, addrs); err != nil {
			return g.found(err)
		}
	}
	return g.found(await(ctx, "ZooKeeper", g.serving))
}

func haveZooKeeper(release realzk.Release) error {
	if _, err := exec.LookPath("java"); err != nil {
		return MissingError("ZooKeeper (no java)")
	}
	if release.ClassPath() == "" {
		return MissingError("ZooKeeper " + release.String() + " (no jars: make deps)")
	}
	return nil
}

// launch starts one server.
func (g *Group) launch(release realzk.Release, i int, addrs []string) error {
	dir := filepath.Join(g.dir, "zookeeper-"+strconv.Itoa(i+1))
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(data, "myid"), []byte(strconv.Itoa(i+1)), 0o600); err != nil {
		return err
	}
	p, err := release.Launch(dir, config(i, data, addrs), []string{heap}, false)
	if err != nil {
		return err
	}
	g.members = append(g.members, member{dir: dir, config: config(i, data, addrs), release: release, Process: p})
	g.ends = append(g.ends, func() { g.members[i].End("") })
	return nil
}

// member is one server of an ensemble.
type member struct {
	dir, config string
	release     realzk.Release
	*realzk.Process
}

// Restart kills all ZooKeeper servers at once and starts them again with their data. It returns when all serve.
func (g *Group) Restart(ctx context.Context) error {
	for _, m := range g.members {
		m.End("")
	}
	for i, m := range g.members {
		var err error
		if g.members[i].Process, err = m.release.Launch(m.dir, m.config, []string{heap}, false); err != nil {
			return err
		}
	}
	return await(ctx, "ZooKeeper", g.serving)
}

// PIDs returns the process of each ZooKeeper server, or of a shell whose child it is.
func (g *Group) PIDs() (pids []int) {
	for _, m := range g.members {
		pids = append(pids, m.PID())
	}
	return pids
}

// config returns a server's zoo.cfg. The first third of the addresses is for clients, the others are for servers.
func config(i int, data string, addrs []string) string {
	n := len(addrs) / 3
	var b strings.Builder
	fmt.Fprintf(&b, "tickTime=2000\ninitLimit=10\nsyncLimit=5\ndataDir=%s\nclientPort=%s\n"+
		"clientPortAddress=127.0.0.1\n", data, port(addrs[i]))
	b.WriteString("4lw.commands.whitelist=*\nmaxClientCnxns=0\nadmin.enableServer=false\n")
	if n == 1 {
		return b.String()
	}
	for j := range n {
		fmt.Fprintf(&b, "server.%d=127.0.0.1:%s:%s\n", j+1, port(addrs[n+j]), port(addrs[2*n+j]))
	}
	return b.String()
}

// serving reports whether all servers serve, and learns their version.
func (g *Group) serving() bool {
	for _, addr := range g.Addrs {
		answer, err := realzk.Probe(addr, "srvr")
		if err != nil || !strings.Contains(answer, "Mode:") {
			return false
		}
		g.Version = versionIn(answer)
	}
	return true
}

// versionIn reads the version in the answer to "srvr".
func versionIn(answer string) string {
	_, rest, _ := strings.Cut(answer, "version: ")
	version, _, _ := strings.Cut(rest, "-")
	return "ZooKeeper " + version
}
