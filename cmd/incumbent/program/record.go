package program

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

// recordTo sets Config.Record as --record and --record-last say. The caller has to call the
// function that it returns when the client is closed.
func (e *elector) recordTo(cfg *incumbent.Config) (end func(), err error) {
	if e.record == "" {
		return func() {}, nil
	}
	info, err := os.Stat(e.record)
	if e.recordLast > 0 || strings.HasSuffix(e.record, "/") || err == nil && info.IsDir() {
		if err := os.MkdirAll(e.record, 0o700); err != nil && !errors.Is(err, syscall.ENOSPC) {
			return nil, cli.Exit(cli.ExitNoOutput, fmt.Errorf("--record %s: %w", e.record, err))
		}
		cfg.Record = incumbent.RecordIn(e.record, incumbent.RecordOptions{Ring: e.recordLast})
		return e.recordCommands(e.record), nil
	}
	f, err := e.createLog(e.record)
	if err != nil {
		return nil, cli.Exit(cli.ExitNoOutput, fmt.Errorf("--record %s: %w", e.record, trimLibrary(err)))
	}
	cfg.Record = incumbent.RecordTo(f)
	endCommands := e.recordCommands(f.Name())
	return func() {
		endCommands()
		_ = f.Close() // tellRecording says what could not be written
	}, nil
}

// recordCommands begins the log of commands next to the flight log. Without it, all else goes on. The caller has to
// call the function that it returns when no command runs any longer.
func (e *elector) recordCommands(record string) (end func()) {
	var err error
	if e.commands, err = newCommandLog(record); err != nil {
		e.Note("when the command ends will not be recorded: %v", err)
	}
	return func() {
		if err := e.commands.close(); err != nil {
			e.Note("%v", err)
		}
	}
}

// tellRecording says what the flight log lacks, and why it cannot be written.
func (e *elector) tellRecording() {
	switch r := e.client.Recording(); {
	case r.Dropped > 0 && r.Err != nil:
		e.Note("the flight log lacks %s, because it cannot be written: %v", cli.Plural(r.Dropped, "record"), r.Err)
	case r.Dropped > 0:
		e.Note("the flight log lacks %s, and says why", cli.Plural(r.Dropped, "record"))
	case r.Err != nil:
		e.Note("the flight log cannot be written: %v", r.Err)
	}
}

// lastSave is how long the end of the program waits for records that are being written.
const lastSave = time.Second

// saveAtSignal has the last records written at each signal USR1, until the function that it
// returns is called.
func (e *elector) saveAtSignal() (end func()) {
	signals, ended := make(chan os.Signal, 1), make(chan struct{})
	notifyOfDump(signals)
	go func() {
		defer close(ended)
		for range signals {
			name, err := e.client.SaveRecord("asked for by a signal")
			if err != nil {
				e.Note("the last records could not be written: %v", trimLibrary(err))
				continue
			}
			e.Note("the last records are in %s", events.Quote(name, events.MaxText))
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		select {
		case <-ended:
		case <-time.After(lastSave): // a disk that hangs does not keep the program from its end
		}
	}
}

// createLog creates the file of --record. If there is a file of that name already, from an
// earlier run, it stays as it is: the log goes to FILE.1, or to the number after the highest. So
// a service that is started again with the same flags leads again.
func (e *elector) createLog(file string) (*os.File, error) {
	f, err := incumbent.CreateLog(file)
	if !errors.Is(err, os.ErrExist) {
		return f, err
	}
	if info, statErr := os.Stat(file); statErr == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is no file: name a file")
	}
	for n := highestNumber(file) + 1; ; n++ {
		numbered := fmt.Sprintf("%s.%d", file, n)
		f, err := incumbent.CreateLog(numbered)
		switch {
		case errors.Is(err, os.ErrExist): // another program created it in the same moment
			continue
		case err == nil:
			e.Note("%s exists already: this run is recorded in %s", events.Quote(file, events.MaxText),
				events.Quote(numbered, events.MaxText))
		}
		return f, err
	}
}

// highestNumber returns the highest n of the files FILE.n, 0 if there is none, or if the
// directory may not be listed.
func highestNumber(file string) (highest uint64) {
	entries, _ := os.ReadDir(filepath.Dir(file))
	for _, entry := range entries {
		if number, ok := strings.CutPrefix(entry.Name(), filepath.Base(file)+"."); ok {
			if n, err := strconv.ParseUint(number, 10, 32); err == nil {
				highest = max(highest, n)
			}
		}
	}
	return highest
}
