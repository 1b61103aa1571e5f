package security

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// refusal is a row of the table of docs/on-call.md: a cause, what incumbent says, and its exit code.
type refusal struct{ cause, says, exit string }

// refusalsOf reads the table. A sentence with … has two parts.
func refusalsOf(t *testing.T) map[string]refusal {
	t.Helper()
	text, err := os.ReadFile("../../../docs/on-call.md")
	ok(t, err)
	_, after, _ := strings.Cut(string(text), "\n## When a server refuses\n")
	section, _, _ := strings.Cut(after, "\n## ")
	all := map[string]refusal{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) == 4 && strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			r := refusal{strings.TrimSpace(cells[0]), strings.Trim(cells[1], "` "), strings.TrimSpace(cells[3])}
			all[r.cause] = r
		}
	}
	return all
}

// saidBy reports whether a text has every part of the row's sentence.
func (r refusal) saidBy(text string) bool {
	for _, part := range strings.Split(r.says, "…") {
		if !strings.Contains(text, strings.TrimSpace(part)) {
			return false
		}
	}
	return true
}

// program runs incumbent elect with some arguments.
type program func(t *testing.T, args ...string) (exit int, said string)

func incumbentProgram(t *testing.T) program {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "incumbent")
	out, err := exec.Command("go", "build", "-o", binary, "../../../cmd/incumbent").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(t *testing.T, args ...string) (int, string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
		defer cancel()
		args = append([]string{"elect", "/refused/line"}, args...)
		out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if exit == nil {
			return 0, string(out)
		}
		return exit.ExitCode(), string(out)
	}
}

// refuses has the program meet a refusal. A connection that is refused is tried for the given time: on a busy machine
// the program may not have heard of the refusal by then, so it is given more.
func (r refusal) refuses(t *testing.T, run program, args ...string) {
	t.Helper()
	for patience := time.Second; ; patience *= 2 {
		exit, said := run(t, append(args, "--connect-timeout", patience.String(), "--try", "1m", "--", "true")...)
		if r.saidBy(said) && fmt.Sprint(exit) == r.exit {
			t.Log(strings.TrimSpace(said))
			return
		}
		if patience > 20*time.Second {
			t.Fatalf("it ends with %d, want %s, and does not say %q:\n%s", exit, r.exit, r.says, said)
		}
	}
}

// Each row of the table, by a real server that refuses so.
func TestEveryRefusalHasWords(t *testing.T) {
	rows := refusalsOf(t)
	run := incumbentProgram(t)
	realzk.Each(t, func(t *testing.T, release realzk.Release) {
		release.Require(t)
		on := newRefusers(t, release)
		for cause := range rows {
			if refusing[cause] == nil {
				t.Errorf("no server refuses so: %q", cause)
			}
		}
		for cause, by := range refusing {
			r, known := rows[cause]
			if !known {
				t.Errorf("docs/on-call.md does not have the cause %q", cause)
				continue
			}
			t.Run(cause, func(t *testing.T) {
				t.Parallel()
				by(t, on, r, func(args ...string) { t.Helper(); r.refuses(t, run, args...) })
			})
		}
	})
}

// electAsBob logs in with a wrong password, to a server with one more property.
func electAsBob(t *testing.T, on *refusers, property string, elect electing) {
	t.Helper()
	s := realzk.Start(t, realzk.Options{Release: on.Release, Properties: append(realzk.SASL(t, saslUsers), property)})
	file := filepath.Join(t.TempDir(), "password")
	ok(t, os.WriteFile(file, []byte("wrong\n"), 0o600))
	elect("--servers", s.Addr(), "--sasl", "digest:bob", "--sasl-password-file", file)
}

// electing runs incumbent elect, which has to be refused.
type electing func(args ...string)

// refusers are servers of one release that several rows need.
type refusers struct {
	realzk.Release
	tls     secured        // at localhost
	limited *realzk.Server // with small requests and quotas
}

func newRefusers(t *testing.T, release realzk.Release) *refusers {
	limits := []string{"jute.maxbuffer=200000", "zookeeper.enforceQuota=true"}
	limited := realzk.Start(t, realzk.Options{Release: release, Properties: limits})
	return &refusers{release, startSecuredFor(t, release, "localhost"), limited}
}

// has skips a row whose setting an older release does not have.
func (on *refusers) has(t *testing.T, since realzk.Version) {
	t.Helper()
	if v := on.At(t, on.limited.Addr()); v.Before(since) {
		realzk.NotRun(t, fmt.Sprintf("ZooKeeper %s has no such setting, %s has", v, since))
	}
}

// refusing has a server for each cause.
var refusing = map[string]func(t *testing.T, on *refusers, r refusal, elect electing){
	"too many connections from one address": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		s := realzk.Start(t, realzk.Options{Release: on.Release, Settings: []string{"maxClientCnxns=1"}})
		conn, err := net.Dial("tcp", s.Addr())
		ok(t, err)
		defer conn.Close()
		elect("--servers", s.Addr())
	},
	"no quorum": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		elect("--servers", quorumOf(t, on.Release, 3))
	},
	"the port expects TLS": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		elect("--servers", on.tls.tls)
	},
	"the port has no TLS": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		elect("--servers", on.tls.plain, "--tls-ca", on.tls.ours.file())
	},
	"the server's certificate is of an unknown authority": func(_ *testing.T, on *refusers, _ refusal, elect electing) {
		elect("--servers", local(on.tls.tls), "--tls-ca", on.tls.foreign.file(),
			"--tls-cert", on.tls.cert, "--tls-key", on.tls.key)
	},
	"the server's certificate is for another host": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		elect("--servers", on.tls.tls, "--tls-ca", on.tls.ours.file(),
			"--tls-cert", on.tls.cert, "--tls-key", on.tls.key)
	},
	"a client certificate is missing, foreign or expired": func(_ *testing.T, on *refusers, _ refusal, elect electing) {
		foreign, foreignKey, _ := on.tls.foreign.issue("foreign")
		on.tls.ours.ended = true
		expired, expiredKey, _ := on.tls.ours.issue("expired")
		to := []string{"--servers", local(on.tls.tls), "--tls-ca", on.tls.ours.file()}
		elect(to...)
		elect(append(to, "--tls-cert", foreign, "--tls-key", foreignKey)...)
		elect(append(to, "--tls-cert", expired, "--tls-key", expiredKey)...)
	},
	"the servers demand a login": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		on.has(t, realzk.Version{3, 6, 0})
		s := realzk.Start(t, realzk.Options{Release: on.Release, Properties: []string{
			"zookeeper.sessionRequireClientSASLAuth=true",
			"zookeeper.authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"}})
		elect("--servers", s.Addr())
		if !on.At(t, s.Addr()).Before(realzk.Version{3, 9, 0}) {
			s = realzk.Start(t, realzk.Options{Release: on.Release, Properties: []string{
				"zookeeper.enforce.auth.enabled=true", "zookeeper.enforce.auth.schemes=digest"}})
			elect("--servers", s.Addr())
		}
	},
	"the servers refuse the login": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		on.has(t, realzk.Version{3, 6, 0})
		electAsBob(t, on, realzk.RequireSASL, elect)
	},
	"the same, with `allowSaslFailedClients`": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		electAsBob(t, on, "zookeeper.allowSaslFailedClients=true", elect)
	},
	"the servers do not know the scheme": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		file := filepath.Join(t.TempDir(), "auth")
		ok(t, os.WriteFile(file, []byte("x509:ann\n"), 0o600))
		elect("--servers", on.limited.Addr(), "--auth-file", file)
	},
	"an access list forbids it": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		conn := operate(t, place{addr: on.limited.Addr(), root: "/closed", timeout: 10 * time.Second})
		create(t, conn, "/closed", "")
		_, err := conn.Create("/closed/refused", nil, 0, zk.WorldACL(zk.PermRead))
		ok(t, err)
		elect("--servers", on.limited.Addr()+"/closed")
	},
	"a quota forbids it": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		on.has(t, realzk.Version{3, 7, 0})
		conn := operate(t, place{addr: on.limited.Addr(), root: "/none", timeout: 10 * time.Second})
		create(t, conn, "/refused", "")
		create(t, conn, "/zookeeper/quota/refused", "")
		create(t, conn, "/zookeeper/quota/refused/zookeeper_limits",
			"count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=1")
		create(t, conn, "/zookeeper/quota/refused/zookeeper_stats", "count=1,bytes=0")
		elect("--servers", on.limited.Addr())
	},
	"sessions are local": func(t *testing.T, on *refusers, _ refusal, elect electing) {
		elect("--servers", quorumOf(t, on.Release, 1, "localSessionsEnabled=true"))
	},
	"a request is too large": tooLarge,
}

// tooLarge has a client of the library send what the server does not take: the program sends nothing so large.
func tooLarge(t *testing.T, on *refusers, r refusal, _ electing) {
	c := connected(t, place{addr: on.limited.Addr(), timeout: 20 * time.Second, tick: 2 * time.Second})
	suspended := make(chan string, 1)
	c.OnConnection(func(state incumbent.ConnectionState) {
		if state == incumbent.Suspended {
			select {
			case suspended <- fmt.Sprint(c.Err()):
			default:
			}
		}
	})
	_, err := c.Create("/large", make([]byte, 300_000)).Do(c.ctx)
	if !errors.Is(err, incumbent.ErrOutcomeUnknown) || !r.saidBy(err.Error()) || r.exit != "–" {
		t.Errorf("it does not say %q: %v", r.says, err)
	}
	if text := <-suspended; !r.saidBy(text) {
		t.Errorf("the end of the connection does not say %q: %s", r.says, text)
	}
	t.Log(err)
}

// local returns an address by the name localhost.
func local(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return net.JoinHostPort("localhost", port)
}

func create(t *testing.T, conn *zk.Conn, path, data string) {
	t.Helper()
	_, err := conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	ok(t, err)
}

// quorumOf starts one server of an ensemble of some size, of which the others never start.
func quorumOf(t *testing.T, release realzk.Release, size int, settings ...string) (addr string) {
	t.Helper()
	dir := t.TempDir()
	ok(t, os.MkdirAll(filepath.Join(dir, "data"), 0o700))
	ok(t, os.WriteFile(filepath.Join(dir, "data", "myid"), []byte("1"), 0o600))
	addr, err := zkmem.FreeAddr()
	ok(t, err)
	host, port, _ := net.SplitHostPort(addr)
	config := fmt.Sprintf("tickTime=2000\ninitLimit=5\nsyncLimit=5\ndataDir=%s\nclientPort=%s\nclientPortAddress=%s\n"+
		"4lw.commands.whitelist=*\nadmin.enableServer=false\nstandaloneEnabled=false\n%s\n",
		filepath.Join(dir, "data"), port, host, strings.Join(settings, "\n"))
	for i := range size {
		var ports [2]string
		for j := range ports {
			free, err := zkmem.FreeAddr()
			ok(t, err)
			_, ports[j], _ = net.SplitHostPort(free)
		}
		config += fmt.Sprintf("server.%d=127.0.0.1:%s:%s\n", i+1, ports[0], ports[1])
	}
	process, err := release.Launch(dir, config, nil, false)
	ok(t, err)
	t.Cleanup(func() { process.End("") })
	if size == 1 {
		served(t, process, addr)
		release.At(t, addr)
	}
	return addr
}
