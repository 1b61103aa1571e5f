package segments

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	plain      = ".jsonl"
	compressed = ".jsonl.gz"
	unfinished = ".part"
)

// Dir is a directory in which one client writes segments.
type Dir struct {
	path, stem string
	keep       int64
	remove     func(path string) error // os.Remove, unless a test watches it
	packing    sync.WaitGroup
	tidying    sync.Mutex // held while a segment is compressed, and old ones are deleted

	mu      sync.Mutex
	begun   bool   // a segment was created
	current string // the segment that is being written
	torn    string // the path of one without anything good that could not be deleted
}

// Open creates the directory if it is missing. The stem is what the names of this
// client's segments begin with. If the files of the directory exceed keep bytes, the
// oldest segments are deleted; 0 keeps all.
func Open(path, stem string, keep int64) (*Dir, error) {
	d := &Dir{path: path, stem: stem, keep: keep, remove: os.Remove}
	if err := os.MkdirAll(path, 0o700); err != nil && !full(err) {
		return nil, err
	}
	return d, nil
}

// startForm is the form of a start in a segment's name.
const startForm = "20060102T150405.000000Z"

// Abs returns the absolute path of a directory.
func Abs(path string) (string, error) { return filepath.Abs(path) }

// Stem returns what the names of a client's segments begin with.
func Stem(start time.Time, host string, pid int) string {
	return fmt.Sprintf("%s-%s-%d", start.UTC().Format(startForm), cmp.Or(safe(host), "unknown"), pid)
}

// later returns the stem of a client that began a microsecond later.
func later(stem string) string {
	start, err := time.Parse(startForm, stem[:min(len(stem), len(startForm))])
	if err != nil {
		return stem
	}
	return start.Add(time.Microsecond).Format(startForm) + stem[len(startForm):]
}

// File is a segment that is being written.
type File struct {
	dir   *Dir
	file  *os.File
	size  int64
	since time.Time // when it was created
	final string    // its path once it is compressed; "": it stayed as it was
}

// Create creates the segment with this number, for its owner only. Its directory is
// created again if it has vanished. If another client of this process began in the same
// microsecond, the names of this client's segments say that it began later.
func (d *Dir) Create(number int) (*File, error) {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return nil, err
	}
	if err := d.removeTorn(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.create(number)
	for tries := 0; errors.Is(err, fs.ErrExist) && !d.begun && tries < maxAtOnce; tries++ {
		d.stem = later(d.stem)
		f, err = d.create(number)
	}
	if err != nil {
		return nil, err
	}
	d.begun, d.current = true, filepath.Base(f.Name())
	return &File{dir: d, file: f, since: time.Now()}, nil
}

// Try creates a segment and deletes it. It returns why that cannot be done.
func (d *Dir) Try() error {
	f, err := d.Create(1)
	if err != nil {
		return err
	}
	return f.Discard(0)
}

// maxAtOnce is how many clients of a process may begin in the same microsecond.
const maxAtOnce = 1000

// create creates a file that is there neither plain nor compressed.
func (d *Dir) create(number int) (*os.File, error) {
	name := filepath.Join(d.path, fmt.Sprintf("%s-%06d", d.stem, number))
	f, err := os.OpenFile(name+plain, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(name + compressed); err == nil {
		return nil,
			errors.Join(&fs.PathError{Op: "create", Path: name + compressed, Err: fs.ErrExist}, f.Close(),
				os.Remove(name+plain))
	}
	return f, nil
}

// Write appends to the segment.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	f.size += int64(n)
	return n, err
}

// Name returns the path of the file while it is written.
func (f *File) Name() string { return f.file.Name() }

// Size returns how many bytes were written.
func (f *File) Size() int64 { return f.size }

// Sync has the operating system write the file to the disk.
func (f *File) Sync() error { return f.file.Sync() }

// Vanished reports whether the directory has another file of this name, or none.
func (f *File) Vanished() bool {
	is, err := f.file.Stat()
	named, err2 := os.Stat(f.file.Name())
	gone := errors.Is(err2, fs.ErrNotExist) || errors.Is(err2, syscall.ENOTDIR) // a file has the directory's name
	return err == nil && (gone || err2 == nil && !os.SameFile(is, named))
}

// Discard closes a file after a failure. It cuts off what was written after the first
// good bytes, and deletes a file without any.
func (f *File) Discard(good int64) error {
	if good == 0 {
		f.dir.mu.Lock()
		f.dir.torn = f.file.Name()
		f.dir.mu.Unlock()
		return errors.Join(f.file.Close(), f.dir.removeTorn())
	}
	return errors.Join(f.file.Truncate(good), f.file.Close())
}

// removeTorn deletes the segment that could not be deleted before: the next one has its number.
func (d *Dir) removeTorn() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.torn == "" {
		return nil
	}
	if err := ignoreMissing(d.remove(d.torn)); err != nil {
		return err
	}
	d.torn = ""
	return nil
}

// Close closes the segment. It is compressed in the background, and old segments are
// deleted then: see Wait.
func (f *File) Close() error {
	err := f.file.Close()
	filled := level(time.Since(f.since))
	f.dir.packing.Go(func() {
		f.dir.tidying.Lock()
		defer f.dir.tidying.Unlock()
		if name := f.Name(); pack(name, filled) == nil { // otherwise the plain file stays
			f.final = strings.TrimSuffix(name, plain) + compressed
		}
		_ = f.dir.drop() // tried again with the next segment
	})
	return err
}

// Final returns the path of a segment that was closed: that of the compressed file, or Name if
// it could not be compressed. It is called after Wait.
func (f *File) Final() string { return cmp.Or(f.final, f.Name()) }

// Wait waits until what was closed is compressed.
func (d *Dir) Wait() { d.packing.Wait() }

// level returns how well a file is compressed that took so long to fill. One that is full in less than a minute is
// compressed fast: the CPU has much else to do.
func level(filled time.Duration) int {
	if filled < time.Minute {
		return gzip.BestSpeed
	}
	return gzip.BestCompression
}

// pack replaces a file by a compressed one.
func pack(name string, level int) (err error) {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	part := strings.TrimSuffix(name, plain) + compressed + unfinished
	out, err := createPart(part)
	if err != nil {
		return err
	}
	w, err := gzip.NewWriterLevel(out, level)
	if err != nil {
		return errors.Join(err, out.Close(), os.Remove(part))
	}
	_, err = io.Copy(w, in)
	if err = errors.Join(err, w.Close(), out.Sync(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return replace(name, part)
}

// createPart creates an unfinished file. It deletes what is in its place: the rest of a process that was killed, or a
// link or a pipe, neither of which may be opened.
func createPart(part string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	out, err := os.OpenFile(part, flags, 0o600)
	if !errors.Is(err, fs.ErrExist) {
		return out, err
	}
	if err := ignoreMissing(os.Remove(part)); err != nil {
		return nil, err
	}
	return os.OpenFile(part, flags, 0o600)
}

// replace puts a compressed file in the place of a plain one. If another process has deleted the plain one meanwhile,
// because there were too many, it deletes the compressed one, too: else an old segment would be there without the next.
func replace(name, part string) error {
	packed := strings.TrimSuffix(part, unfinished)
	if err := os.Rename(part, packed); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	err := os.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(packed)
	}
	return err
}

// drop deletes the oldest segments while all of them take more than keep bytes. The
// segment that is being written stays, and so does one that another process may write.
func (d *Dir) drop() error {
	for d.keep > 0 {
		again, err := d.dropListed()
		if !again || err != nil {
			return err
		}
	}
	return nil
}

// dropListed does so with the files that are there now. It returns true if one of them was deleted or compressed by
// another process meanwhile: the next older file may not be the oldest then.
func (d *Dir) dropListed() (again bool, err error) {
	all, err := list(d.path)
	if err != nil {
		return false, err
	}
	d.mu.Lock()
	current := d.current
	d.mu.Unlock()
	var total int64
	for _, s := range all {
		total += s.size
	}
	for i, s := range all {
		if total <= d.keep {
			return false, nil
		}
		last := i == len(all)-1 || !slices.ContainsFunc(all[i+1:], func(o segment) bool { return o.stem == s.stem })
		if s.name == current || last && strings.HasSuffix(s.name, plain) && s.recent() {
			continue
		}
		if err := d.remove(filepath.Join(d.path, s.name)); err != nil {
			return errors.Is(err, fs.ErrNotExist), ignoreMissing(err)
		}
		total -= s.size
	}
	return false, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// segment is one file of a directory.
type segment struct {
	name, stem string
	number     int
	size       int64
	info       fs.FileInfo
}

// list returns the segments of a directory, the oldest first. One that is there plain and compressed is there twice.
func list(path string) ([]segment, error) { return listBy(os.ReadDir, path) }

// listBy lists again if a segment has vanished while it listed: it may be there compressed.
func listBy(readDir func(string) ([]fs.DirEntry, error), path string) (all []segment, err error) {
	const tries = 10
	for range tries {
		entries, err := readDir(path)
		if err != nil {
			return nil, err
		}
		var vanished bool
		if all, vanished = segmentsOf(entries); !vanished {
			break
		}
	}
	sort.Slice(all, func(i, j int) bool { // which takes less of a program than a sort for the type
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(a.stem, b.stem), cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name)) < 0
	})
	return all, nil
}

// segmentsOf returns the segments among a directory's entries, and whether one was deleted since.
func segmentsOf(entries []fs.DirEntry) (all []segment, vanished bool) {
	for _, e := range entries {
		n, ok := parse(e.Name())
		if !ok || !e.Type().IsRegular() { // a pipe would not end, and a link may lead anywhere
			continue
		}
		info, err := e.Info()
		if err != nil {
			vanished = true
			continue
		}
		number, _ := strconv.Atoi(n.number)
		all = append(all, segment{e.Name(), n.stem, number, info.Size(), info})
	}
	return all, vanished
}
