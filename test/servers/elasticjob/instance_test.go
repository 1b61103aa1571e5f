package elasticjob

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/proxy"
)

// kind is what an instance is written in.
type kind byte

const (
	inJava kind = 'J'
	inGo   kind = 'G'
)

func (k kind) String() string { return map[kind]string{inJava: "Java", inGo: "Go"}[k] }

// instance is a process that is one instance of the job, on a server of its own, behind a link that can be cut.
type instance struct {
	stage *stage
	kind  kind
	name  string // as in "J1"
	ip    string
	link  *proxy.Link

	cmd   *exec.Cmd // nil: it does not run
	in    io.WriteCloser
	ended chan struct{} // closed when all its output has been read
	id    string        // ip@-@pid
	ends  atomic.Bool   // it is killed, or closed
}

// launch starts the instance's process, and returns when it has said that it takes part.
func (i *instance) launch() {
	t := i.stage.t
	t.Helper()
	i.cmd = i.command(t)
	i.cmd.Stderr = i.stage.errors(i)
	var err error
	i.in, err = i.cmd.StdinPipe()
	ok(t, err)
	out, err := i.cmd.StdoutPipe()
	ok(t, err)
	from := i.stage.now()
	ok(t, i.cmd.Start())
	i.id = fmt.Sprintf("%s@-@%d", i.ip, i.cmd.Process.Pid)
	i.ends.Store(false)
	i.ended = make(chan struct{})
	go func(id string, ended chan struct{}) {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			i.stage.hear(id, lines.Text())
		}
		if !i.ends.Load() {
			i.stage.hear(id, "ended by itself")
		}
	}(i.id, i.ended)
	i.stage.await(from, i.name+" to be ready", func(s saying) bool { return s.by == i.id && s.words[0] == "ready" })
}

func (i *instance) command(t testing.TB) *exec.Cmd {
	s := i.stage
	arguments := []string{i.link.Addr(), s.namespace, jobName, strconv.FormatInt(s.timeout.Milliseconds(), 10), i.ip,
		strconv.Itoa(s.total), s.cron(), strconv.FormatInt(s.length.Milliseconds(), 10)}
	if i.kind == inGo {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), workerArguments+"="+strings.Join(arguments, "|")+"|"+s.period.String())
		return cmd
	}
	java := []string{"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", s.generation.classPath(t), "Worker"}
	return exec.Command("java", append(java, arguments...)...)
}

func (i *instance) runs() bool { return i.cmd != nil }

// kill kills the process, and returns when it has ended.
func (i *instance) kill() {
	if i.cmd == nil {
		return
	}
	i.ends.Store(true)
	_ = i.cmd.Process.Kill()
	i.reap()
}

func (i *instance) reap() {
	<-i.ended
	_ = i.cmd.Wait() // it was killed, or said that it has closed
	i.stage.hear(i.id, fmt.Sprintf("gone - %d", time.Now().UnixMilli()))
	i.cmd = nil
}

// close ends the instance in order, and returns when its process has ended.
func (i *instance) close() {
	t := i.stage.t
	t.Helper()
	from := i.stage.now()
	i.ends.Store(true)
	i.stage.cutOff[i.id] = true // ElasticJob closes the session before its items have returned
	_, err := io.WriteString(i.in, "close\n")
	ok(t, err)
	i.stage.await(from, i.name+" to be closed", func(s saying) bool { return s.by == i.id && s.words[0] == "closed" })
	i.reap()
}

// expire cuts the instance off until its session has ended.
func (i *instance) expire() {
	i.stage.cutOff[i.id] = true
	i.link.Cut()
	i.stage.untilGone(i.stage.node("instances", i.id))
	i.link.Heal()
}
