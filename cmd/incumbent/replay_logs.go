package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
)

// replayOptions are the flags of replay.
type replayOptions struct {
	until              uint64
	show, noHeartbeats bool
}

// flightLog is one log that can be read again.
type flightLog struct {
	name string // of a run in a directory
	open func() (s *events.Segments, end func(), err error)
}

// logsAt returns the log in a file, those in a directory, or the one that DIR/RUN names.
func logsAt(path string) ([]flightLog, error) {
	info, err := os.Stat(path)
	if run, is := runNamed(path); is && errors.Is(err, os.ErrNotExist) {
		return []flightLog{logOf(run, run.Name)}, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []flightLog{logOf(segments.Run{Files: []string{path}}, "")}, nil
	}
	runs, err := segments.Runs(path)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s has no flight log: its files are named START-HOST-PROCESS-NUMBER.jsonl, or .jsonl.gz", path)
	}
	var all []flightLog
	for _, run := range runs {
		all = append(all, logOf(run, run.Name))
	}
	return all, nil
}

// runNamed returns the run that DIR/RUN names: RUN is what the names of its segments begin with.
func runNamed(path string) (segments.Run, bool) {
	runs, err := segments.Runs(filepath.Dir(path))
	i := slices.IndexFunc(runs, func(r segments.Run) bool { return r.Name == filepath.Base(path) })
	if err != nil || i < 0 {
		return segments.Run{}, false
	}
	return runs[i], true
}

func logOf(run segments.Run, name string) flightLog {
	return flightLog{name, func() (*events.Segments, func(), error) {
		open, end := run.Opener()
		s, err := events.NewSegments(func() (string, io.Reader, error) {
			file, r, err := open()
			if name == "" {
				file = ""
			}
			return file, r, err
		})
		if err != nil {
			end()
			return nil, nil, err
		}
		return s, end, nil
	}}
}

// playAll replays each log. The first error counts.
func (a *app) playAll(logs []flightLog, o replayOptions) (first error) {
	for _, l := range logs {
		if l.name != "" && !a.JSON {
			a.Out.Line("%s:", l.name)
		}
		err := a.play(l, o)
		switch {
		case err != nil && first == nil:
			first = err
		case err != nil && !a.JSON:
			a.Note("%s: %v", l.name, err)
		}
	}
	return first
}
