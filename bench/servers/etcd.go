package servers

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Etcd starts n members of Debian's etcd. It returns when all of them serve. If etcd is not installed, the error is a
// MissingError.
func Etcd(ctx context.Context, n int) (*Group, error) {
	path, err := exec.LookPath("etcd")
	if err != nil {
		return nil, MissingError("etcd (no etcd: Debian's package is etcd-server)")
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("servers: etcd --version: %w", err)
	}
	g, err := newGroup()
	if err != nil {
		return nil, err
	}
	g.Version = etcdVersion(string(version))
	addrs, err := ports(2 * n)
	if err != nil {
		return g.found(err)
	}
	g.Addrs = addrs[:n]
	for i := range n {
		dir := filepath.Join(g.dir, name(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return g.found(err)
		}
		args := append([]string{path}, etcdArgs(i, filepath.Join(dir, "data"), addrs)...)
		end, err := keep(filepath.Join(dir, "server.log"), args...)
		if err != nil {
			return g.found(err)
		}
		g.ends = append(g.ends, end)
	}
	return g.found(await(ctx, "etcd", g.healthy))
}

func name(i int) string { return fmt.Sprintf("etcd-%d", i+1) }

// etcdArgs returns a member's arguments. The first half of the addresses is for clients, the second for members.
func etcdArgs(i int, dir string, addrs []string) []string {
	n := len(addrs) / 2
	client, member := "http://"+addrs[i], "http://"+addrs[n+i]
	var all []string
	for j := range n {
		all = append(all, name(j)+"=http://"+addrs[n+j])
	}
	return []string{
		"--name", name(i), "--data-dir", dir, "--logger", "zap", "--log-level", "error",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", member, "--initial-advertise-peer-urls", member, "--initial-cluster",
		strings.Join(all, ","),
	}
}

// healthy reports whether every member serves: it does when the cluster has a leader.
func (g *Group) healthy() bool {
	for _, addr := range g.Addrs {
		answer, err := http.Get("http://" + addr + "/health")
		if err != nil {
			return false
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}

// etcdVersion reads the version in the output of etcd --version.
func etcdVersion(output string) string {
	_, rest, _ := strings.Cut(output, "etcd Version: ")
	version, _, _ := strings.Cut(rest, "\n")
	return "etcd " + version
}
