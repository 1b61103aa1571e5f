package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// logFile is one file of records.
type logFile struct {
	file string
	name string // by which it is cited
}

// findLogs returns the files that are named, and those in the directories that are named, whose
// other files are left out. Its error names a file that cannot be read, or a directory without
// a log.
func findLogs(args []string) (all []logFile, err error) {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		found, err := logsIn(arg)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	names := map[string]int{}
	for _, file := range files {
		names[citedName(file)]++
	}
	for _, file := range files {
		f := logFile{file, citedName(file)}
		if names[f.name] > 1 {
			f.name = filepath.Base(filepath.Dir(file)) + "/" + f.name
		}
		if slices.ContainsFunc(all, func(o logFile) bool { return o.name == f.name }) {
			f.name = file
		}
		all = append(all, f)
	}
	return all, nil
}

// citedName returns a file's name without its directory and the endings of logs.
func citedName(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".gz")
	for _, ending := range []string{".log", ".jsonl"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

func logsIn(dir string) (found []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if e.Type().IsRegular() && isLog(file) {
			found = append(found, file)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no recorded log: want files that --record wrote", dir)
	}
	return found, nil
}

// isLog reports whether a file begins as a log does.
func isLog(file string) bool {
	in, err := logFile{file: file}.open()
	if err != nil {
		return false
	}
	defer in.Close()
	head := make([]byte, 80)
	n, _ := io.ReadFull(in, head)
	return bytes.Contains(head[:n], []byte(`"format":"`+events.Format+`"`))
}

// open opens the file, and what is in it if it is gzipped.
func (f logFile) open() (io.ReadCloser, error) {
	in, err := os.Open(f.file)
	if err != nil {
		return nil, err
	}
	b := bufio.NewReader(in)
	if magic, _ := b.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return opened{b, in}, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.file, err), in.Close())
	}
	return opened{z, in}, nil
}

type opened struct {
	io.Reader
	io.Closer
}

// findTxnLogs returns the transaction logs in a directory, or in version-2 of it.
func findTxnLogs(dir string) ([]string, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	for _, in := range []string{dir, filepath.Join(dir, "version-2")} {
		files, err := filepath.Glob(filepath.Join(in, "log.*"))
		if err != nil || len(files) > 0 {
			return files, err
		}
	}
	return nil, fmt.Errorf("%s has no transaction log: want the directory with a server's files log.*, which is version-2 of its dataLogDir", dir)
}
