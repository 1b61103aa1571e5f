package segments

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Run is the log of one client, in segments.
type Run struct {
	Name  string   // what the names of its segments begin with
	Files []string // paths, in order
}

// Runs returns the logs in a directory, the oldest first.
func Runs(path string) ([]Run, error) {
	all, err := list(path)
	if err != nil {
		return nil, err
	}
	var runs []Run
	last := segment{}
	for _, s := range all {
		if strings.HasSuffix(s.name, unfinished) || s.stem == last.stem && s.number == last.number {
			continue
		}
		if s.stem != last.stem {
			runs = append(runs, Run{Name: s.stem})
		}
		r := &runs[len(runs)-1]
		r.Files = append(r.Files, filepath.Join(path, s.name))
		last = s
	}
	return runs, nil
}

// State returns what the segments in a directory look like: another text if one of them grew, came or went.
func State(path string) (string, error) {
	all, err := list(path)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, s := range all {
		fmt.Fprintf(sum, "%q %d %d\n", s.name, s.size, s.info.ModTime().UnixNano())
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Opener returns what events.NewSegments takes, and a function that closes what is open.
func (r Run) Opener() (open func() (string, io.Reader, error), end func()) {
	files, closers := slices.Clone(r.Files), []io.Closer(nil)
	end = func() {
		for _, c := range closers {
			_ = c.Close() // it was only read
		}
		closers = nil
	}
	return func() (string, io.Reader, error) {
		end()
		if len(files) == 0 {
			return "", nil, io.EOF
		}
		name := files[0]
		files = files[1:]
		f, err := os.Open(name)
		if err != nil {
			return "", nil, err
		}
		closers = append(closers, f)
		b := bufio.NewReader(f)
		if magic, _ := b.Peek(2); !strings.HasSuffix(name, ".gz") && !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
			return filepath.Base(name), b, nil
		}
		return filepath.Base(name), &unpacked{file: b}, nil
	}, end
}

// unpacked reads a compressed file. What is wrong with it is damage.
type unpacked struct {
	file io.Reader
	z    *gzip.Reader
}

func (u *unpacked) Read(b []byte) (n int, err error) {
	if u.z == nil {
		if u.z, err = gzip.NewReader(u.file); err != nil {
			return 0, &events.DamagedError{Line: 1, Why: "the compressed file: " + err.Error()}
		}
	}
	if n, err = u.z.Read(b); err != nil && err != io.EOF {
		err = &events.DamagedError{Why: "the compressed file: " + err.Error()}
	}
	return n, err
}

// recent reports whether a file was written lately, so that a process may still write it.
func (s segment) recent() bool {
	const lately = time.Hour
	return time.Since(s.info.ModTime()) < lately
}

// full reports whether an error passes when there is room again.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS)
}
