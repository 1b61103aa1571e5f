package segments

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// commands is what the name of a log of commands ends with. It stands next to the segments of the client whose terms
// the commands run in.
const commands = ".commands"

// CommandsOf returns the path of the log of commands next to a log that is one file.
func CommandsOf(log string) string { return log + commands }

// IsCommands reports whether a file's name is that of a log of commands, plain or gzipped.
func IsCommands(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, packedEnding), commands)
}

// packedEnding is what the name of a gzipped file ends with.
const packedEnding = ".gz"

// OpenCommands opens a log of commands, plain or gzipped.
func OpenCommands(file string) (io.ReadCloser, error) {
	in, err := os.Open(file)
	if err != nil || !strings.HasSuffix(file, packedEnding) {
		return in, err
	}
	return packedCommands{&unpacked{file: in}, in}, nil
}

type packedCommands struct {
	io.Reader
	io.Closer
}

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

// CommandsNextTo returns the paths of the logs of commands of the process that wrote a segment; none for another file.
func CommandsNextTo(file string) (all []string, err error) {
	n, ok := parse(filepath.Base(file))
	if !ok {
		return nil, nil
	}
	found, err := CommandsIn(filepath.Dir(file))
	for _, name := range found {
		if strings.HasSuffix(strings.TrimSuffix(name, packedEnding), "-"+processOf(n.stem)+commands) {
			all = append(all, name)
		}
	}
	return all, err
}

func isCommands(e fs.DirEntry) bool {
	return e.Type().IsRegular() && IsCommands(e.Name())
}

// CreateCommands creates the log of commands next to a log at path: a directory, in which its name begins with the
// stem, or a file. Only its owner can read it, and all who write append. In a directory it deletes old logs of
// commands.
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

// dropCommands deletes the logs of commands of processes without segments, if nothing was added to them since the
// oldest segment's client began.
func dropCommands(dir string) error {
	segments, err := list(dir)
	if err != nil || len(segments) == 0 {
		return err
	}
	writers := map[string]bool{}
	for _, s := range segments {
		writers[processOf(s.stem)] = true
	}
	start, _, _ := strings.Cut(segments[0].stem, "-")
	oldest, err := time.Parse(startForm, start)
	if err != nil {
		return err
	}
	all, err := CommandsIn(dir)
	for _, name := range all {
		info, failed := os.Stat(name)
		if failed == nil && info.ModTime().Before(oldest) && !writers[processOf(strings.TrimSuffix(
			strings.TrimSuffix(filepath.Base(name), packedEnding), commands))] {
			err = errors.Join(err, ignoreMissing(os.Remove(name)))
		}
	}
	return err
}

// processOf returns the host and the process in a stem.
func processOf(stem string) string {
	_, process, _ := strings.Cut(stem, "-")
	return process
}
