// Package servers starts the servers on which clients are compared: real ZooKeeper servers, alone or as an ensemble,
// and etcd, if Debian's packages are installed. Their data is in memory if the machine has a file system in memory.
package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const (
	ready   = 60 * time.Second       // within which servers serve
	between = 100 * time.Millisecond // two looks at whether they do
)

// Group is servers that serve together.
type Group struct {
	Addrs   []string // host:port of each, for clients
	Version string
	dir     string
	ends    []func()
	members []member // of an ensemble of ZooKeeper
}

// Close ends the servers and deletes their data.
func (g *Group) Close() {
	for _, end := range g.ends {
		end()
	}
	os.RemoveAll(g.dir)
}

// MissingError is the error of a server that is not installed. It says what to install.
type MissingError string

// Error returns what to install.
func (e MissingError) Error() string { return string(e) }

// newGroup makes a directory in memory, if there is such a file system.
func newGroup() (*Group, error) {
	parent := "/dev/shm"
	if _, err := os.Stat(parent); err != nil {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "bench-peers-")
	return &Group{dir: dir}, err
}

// ports returns addresses on which nobody listens.
func ports(n int) ([]string, error) {
	addrs := make([]string, n)
	for i := range addrs {
		var err error
		if addrs[i], err = zkmem.FreeAddr(); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

func port(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// await returns when each of these holds, or an error after a minute.
func await(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, ready)
	defer cancel()
	ticker := time.NewTicker(between)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("servers: %s does not serve: %w", what, ctx.Err())
		}
	}
	return nil
}

// keeper runs a command until its input ends: the input is a pipe of the driver's, which ends with the driver however
// that ends.
const keeper = `"$@" & child=$!
read -r end
kill -KILL $child
wait $child`

// keep starts a command that ends when end is called, or with this process.
func keep(log string, args ...string) (end func(), err error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command("sh", append([]string{"-c", keeper, "keeper"}, args...)...)
	cmd.Stdout, cmd.Stderr = out, out
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		in.Close()
		cmd.Wait() // its status tells nothing but the signal
	}, nil
}

// logs returns the last lines of all servers' output, for an error.
func (g *Group) logs() string {
	files, _ := filepath.Glob(filepath.Join(g.dir, "*", "server.log"))
	var b strings.Builder
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil && info.Size() > 2000 {
			f.Seek(-2000, io.SeekEnd)
		}
		text, _ := io.ReadAll(f)
		f.Close()
		fmt.Fprintf(&b, "\n== %s\n%s", filepath.Base(filepath.Dir(file)), text)
	}
	return b.String()
}

// found ends the group after a failed start, and adds what the servers wrote to the error.
func (g *Group) found(err error) (*Group, error) {
	if err != nil {
		err = errors.New(err.Error() + g.logs())
		g.Close()
		return nil, err
	}
	return g, nil
}
