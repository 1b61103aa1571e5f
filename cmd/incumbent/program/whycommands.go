package program

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
)

// readCommands reads the logs of commands that are named, that are in the directories that are named, and that are
// next to the files. One that is damaged is read up to there.
func (e *explainer) readCommands(args []string) (all [][]events.CommandLine, err error) {
	var files []string
	for _, arg := range args {
		found, err := commandsAt(arg)
		if err != nil {
			return nil, cli.Exit(exitNoInput, err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		lines, err := readCommandFile(file)
		var damaged *events.DamagedError
		if err != nil && !errors.As(err, &damaged) {
			return nil, cli.Exit(exitNoInput, err)
		}
		if err != nil {
			e.Note("%s: %v; it is read up to there", events.Quote(file, events.MaxText), damaged)
		}
		all = append(all, lines)
	}
	return all, nil
}

// commandsAt returns the logs of commands that an argument names, has in it, or has next to it.
func commandsAt(arg string) (files []string, err error) {
	path := filepath.Clean(arg)
	if info, err := os.Stat(segments.Find(path)); err == nil && info.IsDir() {
		return segments.CommandsIn(path)
	}
	if segments.IsCommands(path) {
		return []string{path}, nil
	}
	loose := strings.TrimSuffix(path, ".gz")
	for _, near := range []string{segments.CommandsOf(path), segments.CommandsOf(loose),
		segments.CommandsOf(loose) + ".gz"} {
		if isRegular(near) {
			return []string{near}, nil
		}
	}
	return segments.CommandsNextTo(path)
}

func isRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

func readCommandFile(file string) ([]events.CommandLine, error) {
	in, err := segments.OpenCommands(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return events.ReadCommandLines(in)
}
