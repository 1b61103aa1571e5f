package events

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// CommandFormat is what each line of a log of commands begins with.
const CommandFormat = "incumbent-command"

// CommandLine is one line of the log of the commands that a program runs while it leads. The program and its guard,
// another process, append to the same file, so the guard's last line stays if the program has died, or is stopped.
type CommandLine struct {
	Format string      `json:"format"` // CommandFormat
	What   CommandStep `json:"what"`
	Group  int         `json:"group"` // the command's process group
	At     int64       `json:"at,string"`
	Wall   string      `json:"wall"`           // RFC 3339: the host's wall clock at the same moment
	Boot   string      `json:"boot,omitempty"` // At is of this boot of the kernel; "": only Wall counts
	Host   string      `json:"host,omitempty"`
	Node   string      `json:"node,omitempty"` // of the term, of CommandBegan
	Token  int64       `json:"token,string,omitempty"`
	Code   int         `json:"code,omitempty"` // the exit code, of CommandEnded
	Why    string      `json:"why,omitempty"`  // of a kill, for people
}

// CommandStep is what happened to a command.
type CommandStep string

// Steps of a command.
const (
	CommandBegan   CommandStep = "began"         // it is about to be started
	CommandKilled  CommandStep = "killed"        // the program has it killed now
	CommandGuarded CommandStep = "guard-kills"   // the guard kills it now
	CommandEnded   CommandStep = "ended"         // no process of its group is left
	CommandMissing CommandStep = "never-started" // it could not be started
)

// maxCommandLine is how long a line may be.
const maxCommandLine = 64 << 10

// Line returns the line as it is written, with its end.
func (c CommandLine) Line() []byte {
	c.Format = CommandFormat
	b, err := Encode(c)
	if err != nil {
		return nil // a value of these fields cannot fail
	}
	return b
}

// ReadCommandLines reads a log of commands up to its first line that cannot be read. The error says what is wrong
// there; the lines before it are returned as well. A last line without an end is left out.
func ReadCommandLines(r io.Reader) (all []CommandLine, err error) {
	s := bufio.NewReaderSize(r, maxCommandLine)
	for number := 1; ; number++ {
		line, err := s.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return all, &DamagedError{Line: number, Why: err.Error()}
		}
		var c CommandLine
		if err := json.Unmarshal(bytes.TrimSuffix(line, []byte("\n")), &c); err != nil {
			return all, &DamagedError{Line: number, Why: err.Error()}
		}
		if c.Format != CommandFormat {
			return all, &DamagedError{Line: number, Why: fmt.Sprintf("its format is %s, want %q", Quote(c.Format,
				MaxText), CommandFormat)}
		}
		all = append(all, c)
	}
}
