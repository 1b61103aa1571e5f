package kerberos

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const testRealm = "INCUMBENT.TEST"

// kdc is a realm of MIT's Kerberos in a folder of the test, with a server on the loopback. Nothing of the machine's own
// Kerberos is read or written.
type kdc struct {
	t      *testing.T
	dir    string
	addr   string
	env    []string
	server *exec.Cmd
	stdin  io.Closer
}

// fetched is the folder into which make deps unpacks Debian's programs.
const fetched = "../../.cache/krb5/usr"

// program returns the path of a program of MIT's Kerberos. Without it the test is skipped, or fails if everything is
// required.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", fetched+"/sbin", fetched+"/bin") {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			absolute, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			return absolute
		}
	}
	realzk.NotRun(t, "a Kerberos realm (no "+name+": make deps)")
	return ""
}

// newKDC makes a realm with these principals in client.keytab, and zookeeper/localhost and zookeeper/other in
// server.keytab, and starts its server.
func newKDC(t *testing.T, clients ...string) *kdc {
	t.Helper()
	if !selection.StartsServers(t) {
		realzk.NotRun(t, "a Kerberos realm (make prove starts it)")
	}
	addr, err := zkmem.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	k := &kdc{t: t, dir: t.TempDir(), addr: addr}
	libraries, plugins := k.libraries()
	k.env = append(os.Environ(), "KRB5_CONFIG="+k.path("krb5.conf"), "KRB5_KDC_PROFILE="+k.path("kdc.conf"),
		"KRB5CCNAME="+k.path("cache"), "LD_LIBRARY_PATH="+libraries)
	k.write("krb5.conf", krb5conf(addr))
	k.write("kdc.conf", fmt.Sprintf(`[kdcdefaults]
  kdc_listen = %[1]s
  kdc_tcp_listen = %[1]s
[realms]
  %[2]s = {
    database_name = %[3]s/principal
    key_stash_file = %[3]s/stash
    acl_file = %[3]s/acl
    max_renewable_life = 7d
    supported_enctypes = aes256-cts:normal aes128-cts:normal
  }
[dbmodules]
  %[4]s
[logging]
  kdc = FILE:%[3]s/kdc.log
  kdc = STDERR
  default = FILE:%[3]s/other.log
`, addr, testRealm, k.dir, plugins))
	k.run("", "kdb5_util", "create", "-s", "-r", testRealm, "-P", "master")
	var orders strings.Builder
	for _, host := range []string{"localhost", "other"} {
		keytab := k.path("server.keytab")
		fmt.Fprintf(&orders, "addprinc -randkey zookeeper/%s\nktadd -k %s zookeeper/%[1]s\n", host, keytab)
	}
	for _, name := range clients {
		keytab := k.path("client.keytab")
		fmt.Fprintf(&orders, "addprinc -randkey +requires_preauth %s\nktadd -k %s %[1]s\n", name, keytab)
	}
	k.run(orders.String(), "kadmin.local", "-r", testRealm)
	k.start()
	t.Cleanup(k.stop)
	return k
}

// krb5conf returns a configuration with this KDC.
func krb5conf(addr string) string {
	return fmt.Sprintf(`[libdefaults]
  default_realm = %[1]s
  dns_lookup_realm = false
  dns_lookup_kdc = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  ticket_lifetime = 1h
  renew_lifetime = 1d
[realms]
  %[1]s = {
    kdc = %[2]s
  }
[domain_realm]
  elsewhere = OTHER.TEST
`, testRealm, addr)
}

// libraries returns what the programs need if make deps has unpacked them.
func (k *kdc) libraries() (path, setting string) {
	found, _ := filepath.Glob(fetched + "/lib/*/krb5/plugins/kdb")
	if len(found) == 0 {
		return os.Getenv("LD_LIBRARY_PATH"), ""
	}
	plugins, err := filepath.Abs(found[0])
	if err != nil {
		k.t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(plugins))), "db_module_dir = " + plugins
}

func (k *kdc) path(name string) string { return filepath.Join(k.dir, name) }

func (k *kdc) write(name, text string) {
	k.t.Helper()
	if err := os.WriteFile(k.path(name), []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// run runs one of the realm's programs.
func (k *kdc) run(stdin, name string, args ...string) {
	k.t.Helper()
	cmd := exec.Command(program(k.t, name), args...)
	cmd.Env, cmd.Stdin = k.env, strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("kadmin.local: No such")) {
		k.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// kinit fills the credential cache.
func (k *kdc) kinit(name string, args ...string) {
	k.t.Helper()
	k.run("", "kinit", append(args, "-k", "-t", k.path("client.keytab"), name)...)
}

// start starts the server, and returns when it serves. It ends with the test binary, even if that is killed.
func (k *kdc) start() {
	k.t.Helper()
	k.server = exec.Command("sh", "-c", `"$@" & child=$!; cat >/dev/null; kill -KILL $child; wait $child`, "sh",
		program(k.t, "krb5kdc"), "-n", "-r", testRealm, "-P", k.path("kdc.pid"))
	k.server.Env = k.env
	in, err := k.server.StdinPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	k.stdin = in
	ready := &begun{done: make(chan struct{})}
	k.server.Stderr = ready
	if err := k.server.Start(); err != nil {
		k.t.Fatal(err)
	}
	select {
	case <-ready.done:
	case <-time.After(repeat.Enough):
		k.t.Fatalf("the KDC does not serve:\n%s", k.log())
	}
}

// begun waits for the line that says that the KDC serves.
type begun struct {
	done chan struct{}
	text string
	once sync.Once
}

func (b *begun) Write(p []byte) (int, error) {
	b.text += string(p)
	if strings.Contains(b.text, "commencing operation") {
		b.once.Do(func() { close(b.done) })
	}
	return len(p), nil
}

// stop ends the server.
func (k *kdc) stop() {
	if k.server == nil {
		return
	}
	k.stdin.Close()
	_ = k.server.Wait() // the shell's status is that of what it killed
	k.server = nil
}

// log returns what the server has written.
func (k *kdc) log() string {
	text, _ := os.ReadFile(k.path("kdc.log"))
	return string(text)
}

// mechanism returns one with the realm's configuration.
func (k *kdc) mechanism(o Options) *Mechanism {
	k.t.Helper()
	if o.Conf == "" {
		o.Conf = k.path("krb5.conf")
	}
	m, err := New(o)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(m.Close)
	return m
}

// alice is the usual client.
func (k *kdc) alice() Options { return Options{Keytab: k.path("client.keytab"), Principal: "alice"} }
