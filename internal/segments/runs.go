package segments

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file tells apart what is left of a process that was killed, or whose host lost its power.

// NoHeader is said of a file that is named as a segment, and is in no run.
const NoHeader = "has no header, because its process was killed before it had written one, or has just begun"

// runsOf returns the runs of segments, in their order, and the paths of files without a header. They are in no run.
func runsOf(path string, all []segment) (runs []Run, noHeader []string) {
	for _, r := range joinFiles(path, all) {
		var files []string
		for _, file := range r.Files {
			if HasHeader(file) {
				files = append(files, file)
			} else {
				noHeader = append(noHeader, file)
			}
		}
		if len(files) > 0 {
			runs = append(runs, Run{r.Name, files})
		}
	}
	return runs, noHeader
}

// joinFiles returns the runs of segments, in their order. If a segment is there plain and compressed, because the
// process ended between the two, it takes the plain one if that is whole, or else the compressed one.
func joinFiles(path string, all []segment) (runs []Run) {
	last := segment{}
	for _, s := range all {
		if strings.HasSuffix(s.name, unfinished) {
			continue
		}
		if s.stem != last.stem {
			runs = append(runs, Run{Name: s.stem})
		}
		r, file := &runs[len(runs)-1], filepath.Join(path, s.name)
		switch end := len(r.Files) - 1; {
		case s.stem != last.stem || s.number != last.number:
			r.Files = append(r.Files, file)
		case !whole(r.Files[end]):
			r.Files[end] = file
		}
		last = s
	}
	return runs
}

// whole reports whether a plain segment has its last line. Every segment has one before it is compressed. If it has
// none afterwards, the host lost its power: only the compressed file is forced to the disk before the plain one is
// deleted.
func whole(name string) bool {
	const longest = 64 << 10
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	b := make([]byte, min(info.Size(), longest))
	if _, err := f.ReadAt(b, info.Size()-int64(len(b))); err != nil {
		return false
	}
	lines, ended := bytes.CutSuffix(b, []byte("\n"))
	return ended && bytes.HasPrefix(lines[bytes.LastIndexByte(lines, '\n')+1:], []byte(`{"end":`))
}

// Once returns paths of files without one of two segments that are both named, plain and compressed. It keeps the one
// that Runs takes. A file that is being compressed is left out if its segment is named, too.
func Once(paths []string) (kept []string) {
	for _, path := range paths {
		loose, isPart := strings.CutSuffix(path, ".gz"+unfinished)
		loose = strings.TrimSuffix(loose, ".gz")
		isPlain, isPacked := slices.Contains(paths, loose), slices.Contains(paths, loose+".gz")
		switch {
		case !Named(filepath.Base(loose)):
		case isPart && (isPlain || isPacked):
			continue
		case !isPart && isPlain && isPacked && whole(loose) != (path == loose):
			continue
		}
		kept = append(kept, path)
	}
	return kept
}

// HasHeader reports whether a file has more than nothing, and more than the beginning of a header. A compressed file
// has, and so has one that cannot be read: its reader says what is wrong with it.
func HasHeader(name string) bool {
	const begin, longest = `{"format":`, 64 << 10
	if strings.HasSuffix(name, compressed) {
		return true
	}
	f, err := os.Open(name)
	if err != nil {
		return true
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, longest).ReadSlice('\n')
	return err != io.EOF || !strings.HasPrefix(begin, string(line[:min(len(line), len(begin))]))
}
