package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/bench/double"
	"github.com/incumbent-go/incumbent/bench/servers"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// double plays the part of that name: servers are compared, and not libraries.
func (s *session) double(ctx context.Context) (string, error) {
	s.revision = revision(ctx)
	entered := []double.Server{{Label: "**zkmem**", Start: s.startInMemory}}
	for _, release := range []realzk.Release{realzk.Usual, realzk.Newest} {
		group, err := servers.ZooKeeper(ctx, release, 1)
		if err != nil {
			return "", err
		}
		group.Close() // it was started to learn its release
		entered = append(entered, double.Server{Label: group.Version, Start: startReal(release)})
	}
	s.versions = []string{"zkmem of incumbent " + s.revision}
	measured, err := double.Usual.Rounds(ctx, s.rounds, entered, func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	})
	if err != nil {
		return "", err
	}
	return s.heading(time.Now()) + "\n" + double.Usual.Markdown(entered, measured), nil
}

// startReal returns what starts a server of a release of ZooKeeper.
func startReal(release realzk.Release) func(context.Context) (addr string, pid int, end func(), err error) {
	return func(ctx context.Context) (addr string, pid int, end func(), err error) {
		group, err := servers.ZooKeeper(ctx, release, 1)
		if err != nil {
			return "", 0, nil, err
		}
		return group.Addrs[0], group.PIDs()[0], group.Close, nil
	}
}

// startInMemory starts the in-memory ZooKeeper in a process of its own.
func (s *session) startInMemory(context.Context) (addr string, pid int, end func(), err error) {
	cmd := exec.Command(s.server)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", 0, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", 0, nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", 0, nil, err
	}
	end = func() {
		in.Close()
		cmd.Wait() // its status tells nothing
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		end()
		return "", 0, nil, fmt.Errorf("zkmem: no address: %w", err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid, end, nil
}
