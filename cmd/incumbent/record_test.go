//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A service that is started again with the same --record leads again, and keeps every earlier log.
func TestAnExistingLogDoesNotKeepAServiceFromStarting(t *testing.T) {
	srv := zkmem.Start(t)
	log := filepath.Join(t.TempDir(), "flight log")
	former := map[string]string{log: "there before", log + ".2": "", log + ".x": "", log + ".3.gz": ""}
	for file, text := range former {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, next := range []string{".3", ".4"} {
		p := elect(t, srv, "echo up", "--record", log).Exits(0)
		programtest.Contains(t, p.Err.String(), `"`+log+`" exists already: this run is recorded in "`+log+next+`"`)
		programtest.Contains(t, p.Out.String(), "up")
		programtest.Contains(t, start(t, nil, "replay", log+next).Exits(0).Out.String(), "the same: ")
	}
	for file, text := range former {
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%s has %q now: %v", file, b, err)
		}
	}
}

func TestALogThatCannotBeCreated(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"no directory": filepath.Join(dir, "missing", "log"), "a directory": dir, "a pipe": pipe} {
		t.Run(name, func(t *testing.T) {
			p := elect(t, nil, "echo never", "--record", file).Exits(73)
			programtest.Contains(t, p.Err.String(), file)
			if _, err := os.Lstat(file + ".1"); err == nil {
				t.Error("a file was created next to it")
			}
		})
	}
}
