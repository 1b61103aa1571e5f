package segments

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// commands is what the name of a log of commands ends with. It stands beside the segments of the client whose terms the
// commands run in.
const commands = ".commands"

// CommandsOf returns the path of the log of commands beside a log that is one file.
func CommandsOf(log string) string { return log + commands }

// CommandsIn returns the paths of the logs of commands in a directory, in the order of their names.
func CommandsIn(dir string) (all []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if isCommands(e) {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all, err
}

func isCommands(e fs.DirEntry) bool {
	return e.Type().IsRegular() && strings.HasSuffix(e.Name(), commands)
}

// CreateCommands creates the log of commands beside a log at path: a directory, in which its name begins with the stem, or a
// file. Only its owner can read it, and all who write append. In a directory it deletes logs of commands that were
// written last before the oldest segment that is there.
func CreateCommands(path, stem string) (*os.File, error) {
	name := CommandsOf(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if name, err = Abs(filepath.Join(path, stem+commands)); err != nil {
			return nil, err
		}
		if err := dropCommands(path); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
}

func dropCommands(dir string) error {
	segments, err := list(dir)
	if err != nil || len(segments) == 0 {
		return err
	}
	oldest := slices.MinFunc(segments, func(a, b segment) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	all, err := CommandsIn(dir)
	for _, name := range all {
		if info, failed := os.Stat(name); failed == nil && info.ModTime().Before(oldest.info.ModTime()) {
			err = errors.Join(err, ignoreMissing(os.Remove(name)))
		}
	}
	return err
}
