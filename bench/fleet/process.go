package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/incumbent-go/incumbent/bench/machine"
)

// workerVariable in the environment makes this program a process of clients.
const workerVariable = "INCUMBENT_FLEET_WORKER"

// process is a process of clients as the driver sees it.
type process struct {
	cmd      *exec.Cmd
	in       *json.Encoder
	out      *bufio.Scanner
	first, n int           // its sessions
	within   time.Duration // how long an answer may take at most
}

func startProcess(first, n int, within time.Duration) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program)
	cmd.Env, cmd.Stderr = append(os.Environ(), workerVariable+"=1"), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, in: json.NewEncoder(in), out: bufio.NewScanner(out), first: first, n: n, within: within}
	p.out.Buffer(nil, 1<<20)
	return p, cmd.Start()
}

// send gives the process a command, receive reads the answer. Between them others can work, too.
func (p *process) send(c Command) error { return p.in.Encode(c) }

// A process that does not answer in time is killed, so that it holds up nobody.
func (p *process) receive() (l Look, err error) {
	late := time.AfterFunc(p.within, func() { _ = p.cmd.Process.Kill() })
	answered := p.out.Scan()
	if !late.Stop() {
		return l, fmt.Errorf("fleet: a process of clients did not answer within %v (-within) and was killed", p.within)
	}
	if !answered {
		return l, errors.Join(errors.New("fleet: a process of clients has ended"), p.out.Err())
	}
	if err := json.Unmarshal(p.out.Bytes(), &l); err != nil {
		return l, err
	}
	if l.Err != "" {
		return l, fmt.Errorf("fleet: %s", l.Err)
	}
	used, err := machine.CPU(p.cmd.Process.Pid)
	if err != nil {
		return l, err
	}
	l.CPU = int64(used)
	l.RSS, err = machine.RSS(p.cmd.Process.Pid)
	return l, err
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // its status tells nothing but the signal
}

// fleet is all processes of clients that run.
type fleet []*process

// do has every process carry out a command, and adds the answers up. The command may depend on the process.
func (f fleet) do(command func(*process) Command) (sum Look, err error) {
	for _, p := range f {
		if err := p.send(command(p)); err != nil {
			return sum, err
		}
	}
	for _, p := range f {
		l, err := p.receive()
		if err != nil {
			return sum, err
		}
		sum.Connected += l.Connected
		sum.Waiting += l.Waiting
		sum.Leading += l.Leading
		sum.Traffic = sum.Traffic.add(l.Traffic)
		sum.CPU += l.CPU
		sum.RSS += l.RSS
	}
	return sum, nil
}

func (f fleet) look() (Look, error) {
	return f.do(func(*process) Command { return Command{Do: "look"} })
}

func (f fleet) kill() {
	for _, p := range f {
		p.kill()
	}
}
