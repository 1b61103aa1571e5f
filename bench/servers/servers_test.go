package servers

import (
	"errors"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// addrs has three servers' addresses: for clients, for the quorum, for elections.
var addrs = []string{"h:11", "h:12", "h:13", "h:21", "h:22", "h:23", "h:31", "h:32", "h:33"}

func TestServersKnowEachOther(t *testing.T) {
	alone := config(0, "/d", []string{"h:11", "h:21", "h:31"})
	if strings.Contains(alone, "server.") || !strings.Contains(alone, "\ndataDir=/d\nclientPort=11\n") {
		t.Errorf("one server has the configuration\n%s", alone)
	}
	second := config(1, "/d", addrs)
	for _, want := range []string{"\nclientPort=12\n",
		"\nserver.1=127.0.0.1:21:31\nserver.2=127.0.0.1:22:32\nserver.3=127.0.0.1:23:33\n"} {
		if !strings.Contains(second, want) {
			t.Errorf("the second of three has no %q in\n%s", want, second)
		}
	}
	member := strings.Join(etcdArgs(1, "/d", []string{"h:1", "h:2", "h:3", "h:4"}), " ")
	for _, want := range []string{"--name etcd-2 ", "--listen-client-urls http://h:2 ",
		"--listen-peer-urls http://h:4 ", "--initial-cluster etcd-1=http://h:3,etcd-2=http://h:4"} {
		if !strings.Contains(member, want) {
			t.Errorf("the second member has no %q in %s", want, member)
		}
	}
}

func TestVersionsAreRead(t *testing.T) {
	if got := versionIn("Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2023-10-15\nLatency\nMode: " +
		"standalone\n"); got != "ZooKeeper 3.8.0" {
		t.Errorf("ZooKeeper's is %q", got)
	}
	if got := etcdVersion("etcd Version: 3.4.23\nGit SHA: 1\n"); got != "etcd 3.4.23" {
		t.Errorf("etcd's is %q", got)
	}
}

// A machine without the servers is no failure of the comparison: it says what is missing.
func TestWithoutServersSomethingIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var missing MissingError
	_, err := ZooKeeper(t.Context(), realzk.Usual, 1)
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "no java") {
		t.Errorf("without java: %v", err)
	}
	if _, err := Etcd(t.Context(), 1); !errors.As(err, &missing) || !strings.Contains(err.Error(), "etcd-server") {
		t.Errorf("without etcd: %v", err)
	}
}
