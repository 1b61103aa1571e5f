package realzk

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Process is one ZooKeeper server as the operating system sees it. It ends with the test binary, even if that is
// killed.
type Process struct {
	dir   string
	cmd   *exec.Cmd
	order io.WriteCloser // the shell's standard input: names of signals; its end means KILL
	done  *bufio.Reader  // a line for every signal that was sent
}

// keeper runs the command ($2…) in the background, with its output to the file $1. It reads signals, one on each
// line, sends them to the command, and writes a line for each. TERM ends it too, and so does the end of its input,
// which means KILL. $0 is a directory to delete in the end, or empty.
const keeper = `log=$1; shift
"$@" >>"$log" 2>&1 &
child=$!
while read -r signal; do
  kill -"$signal" $child
  echo "$signal"
  if [ "$signal" = TERM ]; then wait $child; fi
done
kill -KILL $child 2>/dev/null
wait $child
if [ -n "$0" ]; then rm -rf "$0"; fi`

// Launch starts a server of this release in a directory, with this zoo.cfg and these Java system properties or options
// of java, and does not wait until it serves. With scratch the directory is deleted when the process ends. Unless a
// property says otherwise, the server deletes empty containers after an hour and not once a minute: no test, and no
// peer in it, finds a directory gone by chance, and each zxid is a client's.
func (r Release) Launch(dir, config string, properties []string, scratch bool) (*Process, error) {
	file := filepath.Join(dir, "zoo.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	remove := ""
	if scratch {
		remove = dir
	}
	p := &Process{dir: dir}
	if err := os.WriteFile(p.logPath(), nil, 0o600); err != nil {
		return nil, err
	}
	args := []string{"-c", keeper, remove, p.logPath(), "java", "-cp", r.ClassPath(),
		"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=1024",
		"-Dznode.container.checkIntervalMs=3600000"}
	for _, property := range properties {
		if !strings.HasPrefix(property, "-") {
			property = "-D" + property
		}
		args = append(args, property)
	}
	args = append(args, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
	p.cmd = exec.Command("sh", args...)
	order, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	done, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.order, p.done = order, bufio.NewReader(done)
	return p, p.cmd.Start()
}

// PID returns the number of the shell that keeps the server. The server is its child.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends the process a signal, by its name ("STOP", "CONT"), and returns when that is done.
func (p *Process) Signal(name string) error {
	if _, err := io.WriteString(p.order, name+"\n"); err != nil {
		return err
	}
	_, err := p.done.ReadString('\n')
	return err
}

// End ends the process with a signal, "" for KILL, and waits until it has ended.
func (p *Process) End(signal string) {
	if signal != "" {
		io.WriteString(p.order, signal+"\n")
	}
	p.order.Close()
	io.Copy(io.Discard, p.done)
	p.cmd.Wait() // its status tells nothing but the signal
}

func (p *Process) logPath() string { return filepath.Join(p.dir, "server.log") }

// Log returns the output of the process since it was launched.
func (p *Process) Log() string {
	text, _ := os.ReadFile(p.logPath())
	return string(text)
}
