package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// drainTimeout is how long a program waits at its end for somebody to read its last lines.
const drainTimeout = time.Second

// exitPipe is the exit code of a program whose output nobody reads any more, as if SIGPIPE had ended it.
const exitPipe = 128 + 13

// LongRunning is called by commands that run until something happens. From then on their lines begin with the time, no
// output holds them up, and none ends them: a goroutine writes the lines, and those that nobody reads in time are
// dropped and counted.
func (a *App) LongRunning() {
	a.Dated = true
	surviveWrites()
	a.Err.queue(func(n int) []byte {
		return a.note("%s dropped: nobody read them in time", Plural(n, "line")+wereOrWas(n))
	})
	a.Out.queue(a.droppedFromOut)
}

// droppedFromOut is the line of stdout that says that lines are missing in it.
func (a *App) droppedFromOut(n int) []byte {
	if !a.JSON {
		return []byte(fmt.Sprintf("%s  %s dropped: nobody read them in time\n", time.Now().Format(TimeLayout),
			Plural(n, "line")+wereOrWas(n)))
	}
	line, _ := json.Marshal(map[string]any{"at": time.Now(), "event": "dropped", "lines": n}) // it cannot fail
	return append(line, '\n')
}

func wereOrWas(n int) string {
	if n == 1 {
		return " was"
	}
	return " were"
}

// NotifyUnlessIgnored is signal.Notify, but signals that were ignored when the program was started, such as SIGHUP
// under nohup, stay ignored, also for the processes that it starts. Go's runtime takes SIGTERM and SIGQUIT before main:
// these are delivered in any case.
func NotifyUnlessIgnored(ch chan<- os.Signal, signals ...os.Signal) {
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(ch, s)
		}
	}
}

// drained returns the code to exit with when stdout is written, or cannot be.
func (a *App) drained() error {
	limit := time.NewTimer(drainTimeout)
	defer limit.Stop()
	if !a.Out.end(limit.C) {
		a.Note("the last lines of stdout could not be written: nobody reads them")
	}
	err := a.Out.Failed()
	if errors.Is(err, syscall.EPIPE) {
		return &ExitError{Code: exitPipe}
	}
	return Exit(ExitNoOutput, err)
}
