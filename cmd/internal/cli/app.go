// Package cli has what the module's two programs share: how they read a
// command line, print, refuse and exit, and which version they say they are.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// App is one run of a program, with what its commands share.
type App struct {
	Name     string // of the program, printed before its errors
	In       io.Reader
	Out, Err *Printer
	JSON     bool // the flag --json
	Dated    bool // notes, and the error at the end, begin with the time: set by commands that run for long
	begun    bool // the command line was understood
}

// New returns a run of the program with that name.
func New(name string, in io.Reader, out, errs *os.File) *App {
	return &App{Name: name, In: in, Out: NewPrinter(out), Err: NewPrinter(errs)}
}

// Run runs the program's root command and returns the code to exit with.
func (a *App) Run(root *cobra.Command, args []string) int {
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := a.Execute(root, args)
	if unwritten := a.drained(); err == nil {
		err = unwritten
	}
	defer a.Err.drain()
	if err == nil {
		return 0
	}
	coded := a.Coded(err)
	if coded.Err != nil {
		lines := ErrorLines(coded)
		lines[0] = a.stamp() + a.Err.Red(a.Name+":") + " " + strings.TrimPrefix(lines[0], "incumbent: ")
		a.Err.Line("%s", strings.Join(lines, "\n"))
	}
	return coded.Code
}

// Execute runs a root command. It leaves the printing of errors to Run.
func (a *App) Execute(root *cobra.Command, args []string) error {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.Version = version(a.Name)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	root.Flags().Bool("version", false, "print the version, the commit and Go's version")
	root.PersistentPreRun = func(*cobra.Command, []string) { a.begun = true }
	root.SetArgs(append([]string{}, args...)) // nil would be those of the process
	return root.ExecuteContext(context.Background())
}

// FlagError returns an error that names the wrong flag, and where help is. A program that does
// not know the command says that instead: the flag may be the command's.
func FlagError(c *cobra.Command, err error) error {
	if args := c.Flags().Args(); !c.HasParent() && len(args) > 0 {
		if unknown := c.ValidateArgs(args); unknown != nil {
			return unknown
		}
	}
	return Usage("%w: see %s --help", err, c.CommandPath())
}

// Coded returns the error with its exit code. An error of cobra before a command
// begins is usage.
func (a *App) Coded(err error) *ExitError {
	var coded *ExitError
	switch {
	case errors.As(err, &coded):
		return coded
	case !a.begun:
		return &ExitError{ExitUsage, err}
	}
	return &ExitError{ExitFailed, err}
}

// JSONFlag adds --json.
func (a *App) JSONFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.JSON, "json", false, "print one JSON object per line instead")
}

// Note prints a line for people on stderr.
func (a *App) Note(format string, args ...any) {
	_, _ = a.Err.Write(a.note(format, args...)) // Failed has the error
}

func (a *App) note(format string, args ...any) []byte {
	return []byte(wrap(a.stamp()+a.Err.Dim(a.Name+":")+" "+line(fmt.Sprintf(format, args...))+"\n", a.Err.width))
}

// stamp returns what precedes a line on stderr: the time if lines are dated.
func (a *App) stamp() string {
	if !a.Dated {
		return ""
	}
	return time.Now().Format(TimeLayout) + "  "
}

// Interruptible returns a context that ends with SIGINT and SIGTERM; a second one
// ends the program. A signal that was ignored when the program was started stays so.
func Interruptible(ctx context.Context) (context.Context, func()) {
	ch := make(chan os.Signal, 1)
	// At SIGQUIT Go would write its stacks, which may block.
	NotifyUnlessIgnored(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { signal.Stop(ch) })
	go func() {
		select {
		case <-ch:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
