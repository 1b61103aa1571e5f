//go:build unix

package group

import (
	"bufio"
	"fmt"
	"io"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// ready is the line that a guard writes when it is ready.
const ready = "ready\n"

// pollInterval is how often the guard reads the clock: timers stop while the computer is
// suspended, the clock goes on.
const pollInterval = 100 * time.Millisecond

// Guard is the guard's own program. It reads lines, each with the time at which it has
// to kill its group, in nanoseconds of a clock that goes on while the computer is
// suspended. It kills the group, and so itself, at that time or at the end of the input.
func Guard(in io.Reader, out io.Writer, say func(string)) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP)
	group := syscall.Getpgrp()
	if group != syscall.Getpid() {
		say("this command is for elect to start, not for people")
		return
	}
	fmt.Fprint(out, ready)
	say(fmt.Sprintf("killing process group %d: %s", group, watch(in)))
	_ = syscall.Kill(0, syscall.SIGKILL) // it cannot fail: this process is a member
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
	look := time.NewTicker(pollInterval)
	defer look.Stop()
	until := int64(0)
	for {
		select {
		case t, more := <-times:
			if !more {
				return "the program that ran it has died"
			}
			until = t
		case <-look.C:
			if until != 0 && ticks() >= until {
				return "another may lead from now on, and the program that ran it did not end it in time"
			}
		}
	}
}
