package main

import (
	"fmt"
	"os"
	"time"

	"github.com/incumbent-go/incumbent/cmd/incumbent/group"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
)

// commandLog writes when commands began and ended, beside the flight log: incumbent why compares it with the terms. The guard
// appends to the same file. A disk that hangs holds nothing up: what does not fit into the queue is dropped.
type commandLog struct {
	file  *os.File
	host  string
	lines chan []byte
	done  chan struct{} // closed when nothing will be written any longer
	err   error         // the first, when done is closed
}

// maxCommandLines is how many lines may wait.
const maxCommandLines = 100

// newCommandLog begins the log of commands beside a flight log, a directory or a file.
func newCommandLog(record string) (*commandLog, error) {
	host, _ := os.Hostname() // without a name the log is as good
	f, err := segments.CreateCommands(record, segments.Stem(time.Now(), host, os.Getpid()))
	if err != nil {
		return nil, err
	}
	c := &commandLog{file: f, host: host, lines: make(chan []byte, maxCommandLines), done: make(chan struct{})}
	go c.write()
	return c, nil
}

func (c *commandLog) write() {
	defer close(c.done)
	for line := range c.lines {
		if _, err := c.file.Write(line); err != nil && c.err == nil {
			c.err = err
		}
	}
}

// guards returns the file for the guards, nil for none.
func (c *commandLog) guards() *os.File {
	if c == nil {
		return nil
	}
	return c.file
}

// add notes a step of a command now.
func (c *commandLog) add(l events.CommandLine) {
	if c == nil {
		return
	}
	select {
	case c.lines <- commandLine(l, c.host).Line():
	default:
	}
}

// commandLine returns the line with the time and the host.
func commandLine(l events.CommandLine, host string) events.CommandLine {
	l.At, l.Wall, l.Host, l.Boot = group.Now(), time.Now().UTC().Format(time.RFC3339Nano), host, group.Boot()
	return l
}

// close ends the log when what waits is written, or after lastSave.
func (c *commandLog) close() error {
	if c == nil {
		return nil
	}
	close(c.lines)
	select {
	case <-c.done:
		_ = c.file.Close() // it was written
		if c.err != nil {
			return fmt.Errorf("the log of commands cannot be written: %w", c.err)
		}
		return nil
	case <-time.After(lastSave):
		return fmt.Errorf("the log of commands was not written within %s", lastSave)
	}
}

// noteKill writes, in a guard, that it kills the group.
func noteKill(k group.Kill) {
	host, _ := os.Hostname()
	line := commandLine(events.CommandLine{What: events.CommandGuarded, Group: k.Group, Why: k.Why}, host).Line()
	_, _ = os.NewFile(group.Noted, "commands").Write(line) // the kill does not depend on it
}
