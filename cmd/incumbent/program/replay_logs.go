package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
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

// logsAt returns the log in a file, those in a directory, or the one that DIR/RUN names. It finds a file that has been
// compressed since it was named. It leaves out files of the directory without a header, and says so.
func (a *app) logsAt(path string) ([]flightLog, error) {
	path = segments.Find(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return runNamed(path, err)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return []flightLog{logOf(segments.Run{Files: []string{path}}, "")}, nil
	}
	runs, noHeader, err := segments.RunsIn(path)
	switch {
	case err != nil:
		return nil, err
	case len(runs) == 0 && len(noHeader) > 0:
		return nil, errNoHeader(path, noHeader)
	case len(runs) == 0:
		return nil,
			fmt.Errorf("%s has no flight log: its files are named START-HOST-PROCESS-NUMBER.jsonl, or .jsonl.gz", path)
	}
	a.tellNoHeader(noHeader)
	var all []flightLog
	for _, run := range runs {
		all = append(all, logOf(run, run.Name))
	}
	return all, nil
}

// tellNoHeader says which files are left out because they have no header.
func (a *app) tellNoHeader(files []string) {
	for _, file := range files {
		a.Note("%s is left out: it %s", file, segments.NoHeader)
	}
}

// errNoHeader says that only files without a header are there.
func errNoHeader(path string, files []string) error {
	more := ""
	if n := len(files) - 1; n > 0 {
		more = fmt.Sprintf(" (and %s like it)", cli.Plural(n, "other file"))
	}
	return fmt.Errorf("%s has no log that can be read: %s%s %s", path, filepath.Base(files[0]), more, segments.NoHeader)
}

// runNamed returns the run that DIR/RUN names: RUN is what the names of its segments begin with. If there is none, its
// error is the one that is given.
func runNamed(path string, missing error) ([]flightLog, error) {
	runs, noHeader, err := segments.RunsIn(filepath.Dir(path))
	if err != nil {
		return nil, missing
	}
	for _, run := range runs {
		if run.Name == filepath.Base(path) {
			return []flightLog{logOf(run, run.Name)}, nil
		}
	}
	others := func(file string) bool { return !strings.HasPrefix(filepath.Base(file), filepath.Base(path)+"-") }
	if own := slices.DeleteFunc(noHeader, others); len(own) > 0 {
		return nil, errNoHeader(path, own)
	}
	return nil, missing
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
			a.Out.Line("%s:", oneLine(l.name))
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
