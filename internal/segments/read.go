package segments

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	runs, _, err := RunsIn(path)
	return runs, err
}

// RunsIn returns the logs in a directory, the oldest first, and the paths of the files that it leaves out because they
// have no header.
func RunsIn(path string) (runs []Run, noHeader []string, err error) {
	all, err := list(path)
	if err != nil {
		return nil, nil, err
	}
	runs, noHeader = runsOf(path, all)
	return runs, noHeader, nil
}

// JoinDumps makes one run of the dumps of each client: files whose headers have the same run, and say why the last
// records in memory were written. They are in the order in which they begin, and may overlap.
func JoinDumps(runs []Run) (joined []Run) {
	type dump struct {
		file   string
		before uint64
	}
	dumps, first := map[string][]dump{}, map[string]int{}
	for _, r := range runs {
		h := r.dumpHeader()
		if h == nil {
			joined = append(joined, r)
			continue
		}
		if dumps[h.Run] == nil {
			first[h.Run] = len(joined)
			joined = append(joined, r)
		}
		dumps[h.Run] = append(dumps[h.Run], dump{r.Files[0], h.Before})
	}
	for run, i := range first {
		slices.SortStableFunc(dumps[run], func(a, b dump) int { return cmp.Compare(a.before, b.before) })
		var files []string
		for _, d := range dumps[run] {
			files = append(files, d.file)
		}
		joined[i].Files = files
	}
	return joined
}

// dumpHeader returns the header of a dump; nil if the run is none, or cannot be read.
func (r Run) dumpHeader() *events.Header {
	if len(r.Files) != 1 {
		return nil
	}
	open, end := r.Opener()
	defer end()
	_, in, err := open()
	if err != nil {
		return nil
	}
	log, err := events.NewReader(in)
	if err != nil || log.Header.Dump == "" || log.Header.Run == "" {
		return nil
	}
	return &log.Header
}

// Unread is a file of a directory that is in none of its runs.
type Unread struct {
	Name string
	Why  string
}

// UnreadIn returns the files of a directory that Runs passes over, by their names, and why. A segment that is being
// compressed, or that is there plain and compressed, is none of them.
func UnreadIn(path string) ([]Unread, error) {
	all, err := list(path)
	if err != nil {
		return nil, err
	}
	return unreadIn(path, all)
}

// unreadIn does so for a directory with these segments.
func unreadIn(path string, all []segment) (unread []Unread, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	_, noHeader := runsOf(path, all)
	for _, e := range entries {
		if why := unreadBecause(path, e, noHeader); why != "" {
			unread = append(unread, Unread{e.Name(), why})
		}
	}
	return unread, nil
}

// unreadBecause returns why an entry of a directory is not read, "" if it is. NoHeader has the paths of files without a
// header.
func unreadBecause(path string, e fs.DirEntry, noHeader []string) string {
	switch kind := e.Type(); {
	case kind&fs.ModeSymlink != 0:
		return "a symbolic link"
	case kind.IsDir():
		return "a directory"
	case !kind.IsRegular():
		return "no regular file"
	case isCommands(e):
		return ""
	case !Named(e.Name()):
		return "not named as a client names its segments"
	case slices.Contains(noHeader, filepath.Join(path, e.Name())):
		return NoHeader
	}
	return ""
}

// Named reports whether a file's name is that of a segment, or of one that is being compressed.
func Named(name string) bool {
	_, ok := parse(name)
	return ok
}

// State returns what a directory looks like: another text if one of its segments grew, came or went, or another file
// came or went.
func State(path string) (string, error) {
	all, err := list(path)
	if err != nil {
		return "", err
	}
	others, err := unreadIn(path, all)
	if err != nil {
		return "", err
	}
	ran, err := CommandsIn(path)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q\n", others)
	for _, name := range ran {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintf(sum, "%q %d\n", name, info.Size())
		}
	}
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
		if len(files) == 0 {
			return "", nil, io.EOF // the last file stays open: a replay asks again if a step has no end
		}
		end()
		f, err := openSegment(files[0])
		if err != nil {
			return "", nil, err
		}
		name := f.Name()
		files = files[1:]
		closers = append(closers, f)
		b := bufio.NewReader(f)
		if magic, _ := b.Peek(2); !strings.HasSuffix(name, ".gz") && !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
			return filepath.Base(name), b, nil
		}
		return filepath.Base(name), &unpacked{file: b}, nil
	}, end
}

// openSegment opens a segment, which may have been compressed since it was listed.
func openSegment(name string) (*os.File, error) {
	f, err := os.Open(name)
	if found := Find(name); err != nil && found != name {
		return os.Open(found)
	}
	return f, err
}

// Find returns the path of a log that may have been compressed since it was named: X.jsonl.gz if there is no X.jsonl.
func Find(name string) string {
	bare, isPlain := strings.CutSuffix(name, plain)
	if _, err := os.Lstat(name); !isPlain || !errors.Is(err, fs.ErrNotExist) {
		return name
	}
	if _, err := os.Lstat(bare + compressed); err != nil {
		return name
	}
	return bare + compressed
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
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO) ||
		errors.Is(err, syscall.EROFS)
}
