package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/incumbent-go/incumbent/bench/servers"
	"github.com/incumbent-go/incumbent/test/kit/peers"
)

// sessionTimeout of all clients, in milliseconds.
const sessionTimeout = "15000"

// programs is what was built, and what is missing here.
type programs struct {
	dir     string
	args    map[string][]string // the command of each program, without the servers
	missing map[string]string   // why a program does not run here
	server  string              // the program that serves the in-memory ZooKeeper
}

// build compiles the programs into a new directory. What cannot run here is missing; what does not compile is an error.
func build(ctx context.Context) (*programs, error) {
	dir, err := os.MkdirTemp("", "bench-programs-")
	if err != nil {
		return nil, err
	}
	p := &programs{dir: dir, args: map[string][]string{}, missing: map[string]string{}}
	for _, name := range []string{incumbent, zookeeper} {
		if err := p.golang(ctx, name, "./cmd/"+name, "."); err != nil {
			return p, err
		}
	}
	if p.server, err = p.compile(ctx, "zkmem", "./cmd/zkmem", "."); err != nil {
		return p, err
	}
	if _, err := exec.LookPath("etcd"); err != nil {
		p.missing[etcd] = "etcd (no etcd: Debian's package is etcd-server)"
	} else if err := p.golang(ctx, etcd, ".", filepath.Join("testdata", "etcd")); err != nil {
		p.missing[etcd] = fmt.Sprintf("etcd (its client does not compile here: %v)", err)
	}
	p.python()
	return p, p.java(ctx)
}

func (p *programs) remove() { os.RemoveAll(p.dir) }

func (p *programs) golang(ctx context.Context, name, pkg, dir string) error {
	out, err := p.compile(ctx, name, pkg, dir)
	if err == nil {
		p.args[name] = []string{out}
	}
	return err
}

// compile compiles a program in Go and returns its path.
func (p *programs) compile(ctx context.Context, name, pkg, dir string) (string, error) {
	out := filepath.Join(p.dir, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, pkg)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, said)
	}
	return out, nil
}

func (p *programs) python() {
	interpreter, err := peers.LookForKazoo()
	if err != nil {
		p.missing[kazoo] = fmt.Sprintf("kazoo (%v)", err)
		return
	}
	p.args[kazoo] = []string{interpreter, filepath.Join("python", "peer.py")}
}

func (p *programs) java(ctx context.Context) error {
	for name, look := range map[string]func() (peers.Curator, error){
		curator: peers.LookForCurator, curatorDebian: peers.LookForDebiansCurator,
	} {
		found, err := look()
		if err != nil {
			p.missing[name] = fmt.Sprintf("Curator (%v)", err)
			continue
		}
		if err := p.curator(ctx, name, found); err != nil {
			return err
		}
	}
	return nil
}

// curator compiles Curator's program for a release.
func (p *programs) curator(ctx context.Context, name string, found peers.Curator) error {
	classes := filepath.Join(p.dir, name)
	cmd := exec.CommandContext(ctx, "javac", "-cp", found.ClassPath(), "-d", classes,
		filepath.Join("java", "Peer.java"),
		filepath.Join("java", "Scenarios.java"))
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("javac: %w\n%s", err, said)
	}
	p.args[name] = []string{"java", "-XX:+UseSerialGC", "-Xshare:auto", "-Drelease=" + found.Release.String(),
		"-cp", found.ClassPath(classes), "Peer"}
	return nil
}

// command returns a command that starts a program on these servers.
func (p *programs) command(name string, addrs []string, revision string) *exec.Cmd {
	args := append(append([]string{}, p.args[name]...), strings.Join(addrs, ","), sessionTimeout)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "BENCH_REVISION="+revision)
	return cmd
}

// start starts the servers of a part. Without etcd's, it is missing; without ZooKeeper's, nothing can be compared.
func (p *programs) start(ctx context.Context, part part) (zk, et *servers.Group, err error) {
	if zk, err = servers.ZooKeeper(ctx, part.release, part.servers); err != nil {
		return nil, nil, err
	}
	if p.missing[etcd] != "" {
		return zk, nil, nil
	}
	if et, err = servers.Etcd(ctx, part.servers); err != nil {
		p.missing[etcd] = fmt.Sprintf("etcd (%v)", err)
	}
	return zk, et, nil
}
