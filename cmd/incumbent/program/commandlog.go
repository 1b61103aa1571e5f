package program

import (
	"fmt"
	"os"
	"time"

	"github.com/incumbent-go/incumbent/cmd/incumbent/group"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
)

// commandLog writes when commands began and ended, next to the flight log: incumbent why compares it with the terms.
// The guard appends to the same file. A disk that hangs holds nothing up: what does not fit into the queue is
// dropped.
type commandLog struct {
	file  *os.File
	host  string
	lines chan commandEntry
	done  chan struct{} // closed when nothing will be written any longer
	err   error         // the first, when done is closed
}

// commandEntry is a line that waits to be written. Written is closed then.
type commandEntry struct {
	line    []byte
	written chan struct{}
}

// maxCommandLines is how many lines may wait.
const maxCommandLines = 100

// newCommandLog begins the log of commands next to a flight log, a directory or a file.
func newCommandLog(record string) (*commandLog, error) {
	host, _ := os.Hostname() // without a name the log is as good
	f, err := segments.CreateCommands(record, segments.Stem(time.Now(), host, os.Getpid()))
	if err != nil {
		return nil, err
	}
	c := &commandLog{file: f, host: host, lines: make(chan commandEntry, maxCommandLines), done: make(chan struct{})}
	go c.write()
	return c, nil
}

func (c *commandLog) write() {
	defer close(c.done)
	for next := range c.lines {
		if _, err := c.file.Write(next.line); err != nil && c.err == nil {
			c.err = err
		}
		close(next.written)
	}
}

// guards returns the file for the guards, nil for none.
func (c *commandLog) guards() *os.File {
	if c == nil {
		return nil
	}
	return c.file
}

// maxCommandWrite is how long a command may wait for its line, without which the guard's means nothing.
const maxCommandWrite = 50 * time.Millisecond

// begin notes that a command begins, and returns when that is written, or after maxCommandWrite.
func (c *commandLog) begin(l events.CommandLine) {
	l.What = events.CommandBegan
	select {
	case <-c.add(l):
	case <-time.After(maxCommandWrite):
	}
}

// add notes a step of a command now. The channel is closed when it is written, or is dropped.
func (c *commandLog) add(l events.CommandLine) <-chan struct{} {
	written := make(chan struct{})
	if c == nil {
		close(written)
		return written
	}
	select {
	case c.lines <- commandEntry{commandLine(l, c.host).Line(), written}:
	default:
		close(written)
	}
	return written
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
