//go:build unix

package group

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ready is the line that a guard writes when it is ready.
const ready = "ready\n"

// pollInterval is how often the guard reads the clock at least: timers stop while the computer is
// suspended, the clock goes on.
const pollInterval = 100 * time.Millisecond

// maxLastLine is how long the guard waits for its last line and its note to be written. The kill does not depend on
// them.
const maxLastLine = 50 * time.Millisecond

// joins is the environment variable with the group that a guard joins, in the place of one that is gone.
const joins = "INCUMBENT_GUARD_JOINS"

// Guard is the guard's own program. It reads lines, each with the time at which it has
// to kill its group, in nanoseconds of a clock that goes on while the computer is
// suspended. It kills the group, and so itself, at that time or at the end of the input,
// whether its last line, which say writes to errs, and its note can be written or not. Note may be nil.
func Guard(in io.Reader, out io.Writer, errs *os.File, say func(string), note func(Kill)) {
	// The guard starts no process that would inherit it.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP,
		syscall.SIGPIPE, syscall.SIGTTOU, syscall.SIGTTIN)
	group := syscall.Getpgrp()
	if group != syscall.Getpid() && os.Getenv(joins) != strconv.Itoa(group) {
		say("this command is for elect to start, not for people")
		return
	}
	fmt.Fprint(out, ready)
	kill := Kill{group, watch(in)}
	var last []func()
	if note != nil {
		last = append(last, func() { note(kill) })
	}
	if writable(errs) {
		last = append(last, func() { say(fmt.Sprintf("killing process group %d: %s", group, kill.Why)) })
	}
	within(maxLastLine, last...)
	_ = syscall.Kill(0, syscall.SIGKILL) // it cannot fail: this process is a member
}

// within calls functions at once, and returns when all have returned, or after the limit.
func within(limit time.Duration, all ...func()) {
	done := make(chan struct{}, len(all))
	for _, f := range all {
		go func() {
			f()
			done <- struct{}{}
		}()
	}
	over := time.After(limit)
	for range all {
		select {
		case <-done:
		case <-over:
			return
		}
	}
}

// writable reports whether a line can be written now.
func writable(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	_, _ = unix.Poll(fds, 0) // with an error there is no event
	return fds[0].Revents&unix.POLLOUT != 0
}

// untilNextLook returns how long the guard may wait before it reads the clock again: nothing at the time at which it
// kills, which is 0 if there is none.
func untilNextLook(until, now int64) time.Duration {
	if until == 0 {
		return pollInterval
	}
	return min(pollInterval, time.Duration(until-now))
}

// watch returns when the group has to end, and why.
func watch(in io.Reader) string {
	times := make(chan int64)
	go func() {
		defer close(times)
		for s := bufio.NewScanner(in); s.Scan(); {
			if t, err := strconv.ParseInt(s.Text(), 10, 64); err == nil {
				times <- t
			}
		}
	}()
	until := int64(0)
	for {
		pause := untilNextLook(until, ticks())
		if pause <= 0 {
			return "another may lead from now on, and the program that ran it did not end it in time"
		}
		select {
		case t, more := <-times:
			if !more {
				return "the program that ran it has died"
			}
			until = t
		case <-time.After(pause):
		}
	}
}
