package kerberos

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/peers"
)

// crew is a process with Curator's latches, which has a ticket of its own.
type crew struct {
	t    *testing.T
	in   io.WriteCloser
	said *bufio.Scanner
}

// crew starts one for a line.
func (k *kdc) crew(servers, path string) *crew {
	k.t.Helper()
	classPath := peers.FindCurator(k.t).ClassPath()
	k.write("client.jaas", `Client {
  com.sun.security.auth.module.Krb5LoginModule required useTicketCache=false
  useKeyTab=true keyTab="`+k.path("client.keytab")+`" principal="alice@`+testRealm+`";
};
`)
	cmd := exec.Command("java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath,
		"-Djava.security.krb5.conf="+k.path("krb5.conf"), "-Djava.security.auth.login.config="+k.path("client.jaas"),
		"-Dzookeeper.server.principal=zookeeper/localhost@"+testRealm, "testdata/Crew.java", servers, path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		_ = in.Close() // it ends then
		if err := cmd.Wait(); err != nil {
			k.t.Error(err)
		}
	})
	return &crew{k.t, in, bufio.NewScanner(out)}
}

// tell has it enter the line, or leave it.
func (c *crew) tell() {
	c.t.Helper()
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		c.t.Fatal(err)
	}
}

// says waits for a line of its output.
func (c *crew) says(want string) {
	c.t.Helper()
	if !c.said.Scan() || c.said.Text() != want {
		c.t.Fatalf("Java says %q, want %q: %v", c.said.Text(), want, c.said.Err())
	}
}

// Java's latches and this library's lead by turns in one line of a server that demands a ticket. Only their principal
// may delete what either creates.
func TestJavaAndGoShareALineByKerberos(t *testing.T) {
	k := newKDC(t, "alice", "bob")
	const path = "/shared"
	servers := local(t, k.zookeeper().Addr())
	c, _ := open(t, servers, k.mechanism(k.alice()), 10*time.Second)
	bob, _ := open(t, servers, k.mechanism(Options{Keytab: k.path("client.keytab"), Principal: "bob"}), 10*time.Second)
	java := k.crew(servers, path)
	for range 2 {
		own, err := c.Latch(path, incumbent.LatchOptions{ID: "go"})
		if err == nil {
			err = own.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		term, err := own.Await(within(t))
		if err != nil {
			t.Fatal(err)
		}
		java.tell()
		inLine(t, c, path, "go", "java")
		term.Release()
		if err := own.Close(within(t)); err != nil {
			t.Fatal(err)
		}
		java.says("leads")
		for _, p := range inLine(t, c, path, "java") {
			if err := bob.Delete(p.Path).Do(within(t)); !errors.Is(err, incumbent.ErrNoAuth) {
				t.Error("bob deletes Java's node:", err)
			}
		}
		java.tell()
		java.says("left")
	}
}

// inLine waits until a line has these participants, and returns them.
func inLine(t *testing.T, c *incumbent.Client, path string, want ...string) []incumbent.Participant {
	t.Helper()
	for change, err := range c.WatchChildren(within(t), path) {
		if err != nil {
			t.Fatal(err)
		}
		if len(change.Children) != len(want) {
			continue
		}
		line, err := c.Line(within(t), path)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range line.Participants {
			if i >= len(want) || p.ID != want[i] {
				t.Fatalf("the line has %+v, want %q", line.Participants, want)
			}
		}
		return line.Participants
	}
	return nil
}
