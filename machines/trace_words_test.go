package machines

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/incumbent-go/incumbent/events"
)

// unreadable says why a directive cannot be played: it lacks its event, or a number or a duration in it is none. Read
// as zero, such a value would become part of a golden text.
func unreadable(d *datadriven.TestData) string {
	switch d.Cmd {
	case "connected", "attach", "suspend", "lose":
	default:
		if len(d.CmdArgs) == 0 {
			return fmt.Sprintf("%q lacks what follows it, as in \"latch reply.create\", \"open latch\" or \"at 2s\"",
				d.Cmd)
		}
	}
	if d.Cmd == "at" {
		if step, err := time.ParseDuration(d.CmdArgs[0].Key); err != nil || step <= 0 {
			return fmt.Sprintf("at %s: want a positive duration", d.CmdArgs[0].Key)
		}
	}
	if d.Cmd == "open" {
		return "" // its arguments are the options of a recipe, which reads them itself
	}
	for _, a := range d.CmdArgs {
		value := strings.Join(a.Vals, ",")
		switch a.Key {
		case "request", "session", "seq", "zxid", "czxid", "owner", "version", "work", "count", "mtime":
			if _, err := strconv.ParseInt(value, 0, 64); err != nil && !strings.Contains(value, "<") {
				return fmt.Sprintf("%s=%s: want a number", a.Key, value)
			}
		case "sent", "contact", "timeout", "paused":
			if _, err := time.ParseDuration(value); err != nil {
				return fmt.Sprintf("%s=%s: want a duration", a.Key, value)
			}
		}
	}
	return ""
}

func TestADirectiveThatCannotBeReadIsRefused(t *testing.T) {
	for line, want := range map[string]string{
		"suspend": "",
		"at 2s":   "",
		"at -2s":  "at -2s: want a positive duration",
		"at": `"at" lacks what follows it, as in "latch reply.create", "open ` +
			`latch" or "at 2s"`,
		"latch": `"latch" lacks what follows it, as in "latch reply.create", "open ` +
			`latch" or "at 2s"`,
		"attach timeout=long":                  "timeout=long: want a duration",
		"open semaphore version=any":           "",
		"latch reply.create seq=7 zxid=0x10":   "",
		"latch reply.create seq=own":           "seq=own: want a number",
		"latch reply.stat czxid":               "czxid=: want a number",
		"session reply.stat sent=2s contact=2": "contact=2: want a duration",
	} {
		cmd, args, err := datadriven.ParseLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := unreadable(&datadriven.TestData{Cmd: cmd, CmdArgs: args}); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// severalValues sets what an argument with several values says: lines of data, a job's configuration, or the checks
// of a
// term.
func severalValues(ev *events.Event, a datadriven.CmdArg) {
	if a.Key == "lines" {
		ev.Data = []byte(strings.ReplaceAll(strings.Join(a.Vals, "\n"), "_", " "))
		return
	}
	if a.Key == "config" {
		ev.Data = []byte("jobName: l\nmonitorExecution: true\nmisfire: " +
			"true\n" + strings.ReplaceAll(strings.Join(a.Vals, "\n"), ":", ": ") + "\n")
		return
	}
	for _, path := range a.Vals {
		ev.Ops = append(ev.Ops, events.Op{Verb: "check", Path: path, Version: -1})
	}
}
