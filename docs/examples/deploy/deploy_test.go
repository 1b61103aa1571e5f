//go:build unix

package deploy

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const root = "../../.." // of the checkout

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r", "")
}

// program is what built made.
var program struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if program.dir != "" {
		_ = os.RemoveAll(program.dir)
	}
	os.Exit(code)
}

// built returns the program, built as the Containerfile does. It leaves -trimpath out: with it, everything would be
// compiled a second time, and nothing that is tested here would change.
func built(t *testing.T) string {
	t.Helper()
	command := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build )-trimpath (.*) -o /incumbent (\./cmd/incumbent)$`).
		FindStringSubmatch(read(t, "Containerfile"))
	if command == nil {
		t.Fatal("the Containerfile does not build /incumbent without cgo and with -trimpath")
	}
	program.once.Do(func() {
		if program.dir, program.err = os.MkdirTemp("", "deploy"); program.err != nil {
			return
		}
		sh := exec.Command("sh", "-c", command[1]+command[2]+" -o "+program.dir+"/incumbent "+command[3])
		sh.Dir = root
		if out, err := sh.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
	return filepath.Join(program.dir, "incumbent")
}

// run runs elect as a file says, but with cat as the command, and returns the address of its health endpoints. Stop
// waits until the command runs, sends SIGTERM to elect, and awaits its end.
func run(t *testing.T, binary string, args, env []string) (base string, stop func()) {
	t.Helper()
	dashes := slices.Index(args, "--")
	if dashes < 0 || len(args) != dashes+2 {
		t.Fatalf("%q runs no command", args)
	}
	c := exec.Command(binary, append(slices.Clone(args[:dashes+1]), "cat")...)
	c.Env = append(os.Environ(), env...)
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	said, lines := "", bufio.NewScanner(stderr)
	for base == "" {
		if !lines.Scan() {
			t.Fatalf("%q ended: %v\n%s", c.Args, c.Wait(), said)
		}
		said += lines.Text() + "\n"
		if at := regexp.MustCompile(`http://\S+`).FindString(lines.Text()); at != "" {
			base = at
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, stderr)
	}()
	return base, func() {
		t.Helper()
		if _, err := io.WriteString(stdin, "echo\n"); err != nil {
			t.Error(err)
		}
		if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "echo\n" {
			t.Errorf("the command does not run: %q, %v", line, err)
		}
		_ = c.Process.Signal(syscall.SIGTERM)
		<-drained
		_ = stdin.Close()
		var ended *exec.ExitError
		if err := c.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 128+int(syscall.SIGTERM) {
			t.Errorf("after SIGTERM: %v", err)
		}
	}
}

// local replaces what the files name by what a test has: files in a directory of state, a secret, and a free port.
func local(t *testing.T, state string) *strings.Replacer {
	t.Helper()
	secret := credentials(t)
	return strings.NewReplacer("/var/lib/nightly/flight", state+"/flight", "/flight/", state+"/flight/",
		"%d", secret, "/etc/nightly", secret, "0.0.0.0:4040", "127.0.0.1:0", ":4040", ":0", "$(POD_NAME)", "pod-1")
}

// replaced returns the arguments with what here replaces.
func replaced(here *strings.Replacer, args []string) []string {
	return strings.Split(here.Replace(strings.Join(args, "\x00")), "\x00")
}

// credentials returns a directory with the file auth.
func credentials(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "auth"), []byte("digest:nightly:secret\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	return dir
}

// explains runs why on the flight log, which has one term.
func explains(t *testing.T, binary, flight string) {
	t.Helper()
	out, err := exec.Command(binary, "why", flight).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Never two with the right at once: proven") {
		t.Errorf("why: %v\n%s", err, out)
	}
}

func get(t *testing.T, url string) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// The program that the Containerfile builds needs no other file to run, and what is copied exists in the stage that it
// names.
func TestContainerfile(t *testing.T) {
	binary := built(t)
	if f, err := elf.Open(binary); err == nil { // not on macOS
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				t.Error("it is linked dynamically: there is no linker in an image FROM scratch")
			}
		}
		_ = f.Close()
	}
	if out, err := exec.Command(binary, "--version").CombinedOutput(); err != nil ||
		!bytes.HasPrefix(out, []byte("incumbent ")) {
		t.Errorf("%v %s", err, out)
	}
	known := map[string]string{"FROM": `^\S+( AS \w+)?$`, "WORKDIR": `^/\S*$`, "COPY": `^(--from=\w+ )?\S+ \S+$`,
		"RUN": `^\S`, "USER": `^[1-9]\d*:[1-9]\d*$`,
		"EXPOSE": `^\d+$`, "ENTRYPOINT": `^\["/incumbent"\]$`, "CMD": `^\["[^"]+"(, "[^"]+")*\]$`}
	stages := []string{}
	for _, line := range strings.Split(read(t, "Containerfile"), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		instruction, rest, _ := strings.Cut(line, " ")
		if form, is := known[instruction]; !is || !regexp.MustCompile(form).MatchString(rest) {
			t.Errorf("%q is no instruction, or has another form", line)
		}
		if _, stage, named := strings.Cut(rest, " AS "); named && instruction == "FROM" {
			stages = append(stages, stage)
		}
		if from, is := strings.CutPrefix(rest, "--from="); is && !slices.Contains(stages, strings.Fields(from)[0]) {
			t.Errorf("%q copies from a stage that is not there: %q", line, stages)
		}
	}
}

// The unit's command line runs, is ready, feeds the watchdog, and ends by SIGTERM; systemd-analyze finds nothing in the
// unit.
func TestUnit(t *testing.T) {
	unit := read(t, "nightly.service")
	if !strings.Contains(unit, "\nLoadCredential=auth:") {
		t.Error("nothing is loaded as the credential auth")
	}
	command := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(unit)[1]
	binary, state := built(t), t.TempDir()
	args := strings.Fields(local(t, state).Replace(command))
	dir, err := os.MkdirTemp("", "deploy") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	base, stop := run(t, binary, args[1:],
		[]string{"INCUMBENT_SERVERS=" + zkmem.Start(t).Addr(), "NOTIFY_SOCKET=" + filepath.Join(dir, "s"),
			"WATCHDOG_USEC=200000"})
	for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
		for buf, said := make([]byte, 4096), ""; !strings.Contains(said, want); {
			_ = socket.SetReadDeadline(time.Now().Add(time.Minute))
			n, err := socket.Read(buf)
			if err != nil {
				t.Fatalf("no %s: %v", want, err)
			}
			said = string(buf[:n])
		}
	}
	if code := get(t, base+"/livez"); code != http.StatusOK {
		t.Errorf("/livez is %d", code)
	}
	stop()
	explains(t, binary, state+"/flight/")

	tool, err := exec.LookPath("systemd-analyze")
	switch {
	case err != nil && os.Getenv("INCUMBENT_REQUIRE") == "all":
		t.Fatal("not run: systemd-analyze is not installed")
	case err != nil:
		t.Skip("not run: systemd-analyze is not installed")
	}
	copied := filepath.Join(t.TempDir(), "nightly.service")
	here := strings.ReplaceAll(unit, "/usr/local/bin/incumbent ", binary+" ")
	if err := os.WriteFile(copied, []byte(here), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "verify", "--man=no", copied).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze: %v\n%s", err, out)
	}
}

// inLine waits until the program is in its line.
func inLine(t *testing.T, srv *zkmem.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := srv.WaitFor(ctx, func(v *zkmem.View) bool { return len(v.Children("/jobs/nightly")) == 1 }); err != nil {
		t.Fatal(err)
	}
}

// The command lines of the unit and of the container wait for an ensemble that is not there: they live, are not ready,
// and say why. When it has come, they are ready.
func TestWithoutAnEnsemble(t *testing.T) {
	unit := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(read(t, "nightly.service"))[1]
	here := local(t, t.TempDir())
	for name, args := range map[string][]string{
		"unit": strings.Fields(strings.Replace(here.Replace(unit), " --notify", "", 1))[1:],
		"pod":  replaced(here, readManifests(t).deployment.Spec.Template.Spec.Containers[0].Args),
	} {
		addr, err := zkmem.FreeAddr()
		if err != nil {
			t.Fatal(err)
		}
		base, stop := run(t, built(t), args, []string{"INCUMBENT_SERVERS=" + addr})
		if lives, ready := get(t, base+"/livez"), get(t, base+"/readyz"); lives != http.StatusOK ||
			ready != http.StatusServiceUnavailable {
			t.Errorf("%s: /livez is %d and /readyz %d without an ensemble", name, lives, ready)
		}
		srv := zkmem.New(zkmem.Options{})
		if err := srv.Listen(addr); err != nil {
			t.Fatal(err)
		}
		inLine(t, srv)
		if ready := get(t, base+"/readyz"); ready != http.StatusOK {
			t.Errorf("%s: /readyz is %d in line", name, ready)
		}
		stop()
		srv.Close()
	}
}

// What is wrong with the ensemble is said before the start, and the start goes on: with none, with a healthy one, and
// with one that is not fit.
func TestTheDoctorOnlyWarns(t *testing.T) {
	unit := regexp.MustCompile(`(?m)^ExecStartPre=-(.*)$`).FindStringSubmatch(read(t, "nightly.service"))[1]
	here := local(t, t.TempDir())
	pod := readManifests(t).deployment.Spec.Template.Spec.InitContainers
	if len(pod) != 1 || !slices.Contains(pod[0].Args, "--warn-only") {
		t.Fatalf("the pod begins with %+v", pod)
	}
	nobody, err := zkmem.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	unfit := zkmem.Start(t, zkmem.Options{Tick: 4 * time.Second}).Addr()
	for addr, want := range map[string]string{nobody: "unreachable", unfit: "tick-too-long",
		zkmem.Start(t).Addr(): ""} {
		for name, args := range map[string][]string{
			"unit": append(strings.Fields(here.Replace(unit))[1:], "--warn-only"), // systemd goes on for the dash
			"pod":  replaced(here, pod[0].Args),
		} {
			c := exec.Command(built(t), append(args, "--admin-port", "0")...)
			c.Env = append(os.Environ(), "INCUMBENT_SERVERS="+addr)
			if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v, want %q\n%s", name, err, want, out)
			}
		}
	}
}
