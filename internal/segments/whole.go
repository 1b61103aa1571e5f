package segments

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// This file tells apart what is left of a process that was killed, or whose host lost its power.

// joinFiles returns the runs of segments, in their order. If a segment is there plain and compressed, because the process
// ended between the two, it takes the plain one if that is whole, or else the compressed one.
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

// whole reports whether a plain segment has its last line. Every segment has one before it is compressed. If it has none
// afterwards, the host lost its power: only the compressed file is forced to the disk before the plain one is deleted.
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
