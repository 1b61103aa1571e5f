package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes, as sysexits.h has them where it has one. The help of each command
// names those that it uses.
const (
	exitFailed      = 1   // the demonstration did not come out as told; anything unforeseen
	exitDamaged     = 2   // replay: the log cannot be read, or another chart wrote it
	exitDiverged    = 3   // replay: the same events gave something else
	exitGap         = 6   // replay: the same as far as it goes, and then records are missing
	exitUsage       = 64  // EX_USAGE
	exitNobody      = 65  // EX_DATAERR: resign found nobody, or more than one
	exitNoInput     = 66  // EX_NOINPUT
	exitUnavailable = 69  // EX_UNAVAILABLE: no server answered
	exitSystem      = 71  // EX_OSERR
	exitNoOutput    = 73  // EX_CANTCREAT
	exitLost        = 75  // EX_TEMPFAIL: leadership was lost
	exitNoAuth      = 77  // EX_NOPERM
	exitObstructed  = 78  // EX_CONFIG: something in the line has to be mended by hand
	exitTried       = 124 // as timeout(1): --try went by
	exitCannotRun   = 126 // as shells do
	exitNotFound    = 127
	exitSignal      = 128 // plus the signal's number
)

// exitError is an error with the code to exit with. Without an error it says
// nothing more than that.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exit gives an error a code; nil stays nil.
func exit(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code, err}
}

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// app is what every command has in common.
type app struct {
	in       io.Reader
	out, err *printer
	json     bool
	begun    bool // the command line was understood
}

// run is the program.
func run(args []string, in io.Reader, out, errs *os.File) int {
	a := &app{in: in, out: newPrinter(out), err: newPrinter(errs)}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		err = exit(exitNoOutput, a.out.failed)
	}
	if err == nil {
		return 0
	}
	coded := a.coded(err)
	if coded.err != nil {
		a.err.line("%s %s", a.err.red("incumbent:"), plain(strings.TrimPrefix(coded.Error(), "incumbent: ")))
	}
	return coded.code
}

// coded gives an error that has no code of its own one: what cobra refuses before
// a command begins is usage.
func (a *app) coded(err error) *exitError {
	var coded *exitError
	switch {
	case errors.As(err, &coded):
		return coded
	case !a.begun:
		return &exitError{exitUsage, err}
	}
	return &exitError{exitFailed, err}
}

func (a *app) root() *cobra.Command {
	root := a.demo()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentPreRun = func(*cobra.Command, []string) { a.begun = true }
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var number *strconv.NumError
		if errors.As(err, &number) && number.Func == "ParseInt" {
			return usage("%s: want a whole number: see %s --help", strings.TrimSuffix(err.Error(), ": "+number.Error()), c.CommandPath())
		}
		return usage("%w: see %s --help", err, c.CommandPath())
	})
	root.AddCommand(a.elect(), a.lock(), a.status(), a.watch(), a.resign(), a.replay(), a.chart(), a.zk(), a.guard())
	return root
}

// jsonFlag adds --json.
func (a *app) jsonFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.json, "json", false, "print one JSON object per line instead")
}

// exactly wants so many arguments, and says which are missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usage("%s needs %s, as in: %s", c.Name(), names[len(args)], firstLine(c.Example))
		case len(args) > len(names):
			return usage("%s does not know what to do with %q: see %s --help", c.Name(), args[len(names)], c.CommandPath())
		}
		return nil
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// interruptible ends with SIGINT and SIGTERM; a second one ends the program.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
