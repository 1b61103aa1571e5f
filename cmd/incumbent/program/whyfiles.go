package program

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// citedLog is a log, and the name by which it is cited.
type citedLog struct {
	flightLog
	file string // the file, or the directory and the run, for errors
	cite string
}

// findLogs returns the logs in the files that are named, and in the directories that are named: runs of --record DIR,
// and other files that --record wrote. It finds a file that has been compressed since it was named. NoHeader has the
// paths of segments that it leaves out because they have no header. Its error names a file that cannot be read, or a
// directory without a log.
func findLogs(args []string) (all []citedLog, noHeader []string, err error) {
	for _, arg := range segments.Once(args) {
		if segments.IsCommands(arg) {
			continue
		}
		arg = segments.Find(arg)
		info, err := os.Stat(arg)
		if err != nil {
			return nil, nil, err
		}
		if info.Mode().IsRegular() && segments.Named(filepath.Base(arg)) && !segments.HasHeader(arg) {
			noHeader = append(noHeader, arg)
			continue
		}
		if !info.IsDir() {
			all = append(all, logFile(arg))
			continue
		}
		found, without, err := logsIn(arg)
		if err != nil {
			return nil, nil, err
		}
		all, noHeader = append(all, found...), append(noHeader, without...)
	}
	if len(all) == 0 {
		return nil, nil, errNoHeader(strings.Join(args, ", "), noHeader)
	}
	all = joinSegments(dropTwice(all))
	names := map[string]int{}
	for _, l := range all {
		names[l.cite]++
	}
	for i := range all {
		if l := &all[i]; names[l.cite] > 1 {
			l.cite = filepath.Base(filepath.Dir(l.file)) + "/" + citedName(l.file)
		}
		if slices.ContainsFunc(all[:i], func(o citedLog) bool { return o.cite == all[i].cite }) {
			all[i].cite = all[i].file
		}
	}
	return all, noHeader, nil
}

// dropTwice leaves out files that were named twice, as a file and with its directory say.
func dropTwice(all []citedLog) (kept []citedLog) {
	var seen []os.FileInfo
	for _, l := range all {
		info, err := os.Stat(l.file)
		if err == nil && slices.ContainsFunc(seen, func(o os.FileInfo) bool { return os.SameFile(o, info) }) {
			continue
		}
		if err == nil {
			seen = append(seen, info)
		}
		// a run of a directory
		if err != nil && slices.ContainsFunc(kept, func(o citedLog) bool { return o.file == l.file }) {
			continue
		}
		kept = append(kept, l)
	}
	return kept
}

// joinSegments makes one log of the files that are segments of one run, or dumps of one client, whatever their names
// are.
func joinSegments(all []citedLog) (joined []citedLog) {
	type part struct {
		file   string
		number int
		before uint64
	}
	parts, first := map[string][]part{}, map[string]int{}
	for _, l := range all {
		var h *events.Header
		if info, err := os.Stat(l.file); l.name != "" || err == nil && info.Mode().IsRegular() { // a pipe is read once
			h = l.header()
		}
		if h == nil || h.Segment == 0 && h.Dump == "" || l.name != "" { // a run of a directory is joined already
			joined = append(joined, l)
			continue
		}
		if parts[h.Run] == nil {
			first[h.Run] = len(joined)
			if h.Host != "" && h.Dump == "" {
				l.cite = h.Host
			}
			joined = append(joined, l)
		}
		parts[h.Run] = append(parts[h.Run], part{l.file, h.Segment, h.Before})
	}
	for run, i := range first {
		slices.SortStableFunc(parts[run], func(a, b part) int {
			return cmp.Or(a.number-b.number, cmp.Compare(a.before, b.before))
		})
		var files []string
		for _, p := range parts[run] {
			files = append(files, p.file)
		}
		l := &joined[i]
		l.flightLog, l.file = logOf(segments.Run{Files: files}, ""), files[0]
		if len(files) > 1 { // so that damage names its file
			l.flightLog = logOf(segments.Run{Files: files}, l.cite)
		}
	}
	return joined
}

// header returns the first header of a log, nil if it cannot be read.
func (l citedLog) header() *events.Header {
	s, end, err := l.open()
	if err != nil {
		return nil
	}
	defer end()
	h := s.Header()
	return &h
}

func logFile(file string) citedLog {
	return citedLog{logOf(segments.Run{Files: []string{file}}, ""), file, citedName(file)}
}

// citedName returns a file's name without its directory and the endings of logs.
func citedName(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".gz")
	for _, ending := range []string{".log", ".jsonl"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// logsIn returns the logs in a directory, and the paths of its files without a header.
func logsIn(dir string) (found []citedLog, noHeader []string, err error) {
	runs, noHeader, err := segments.RunsIn(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, run := range segments.JoinDumps(runs) {
		l := citedLog{logOf(run, run.Name), filepath.Join(dir, run.Name), run.Name}
		if h := l.header(); h != nil && h.Host != "" {
			l.cite = h.Host
		}
		found = append(found, l)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		l := logFile(filepath.Join(dir, e.Name()))
		if e.Type().IsRegular() && !segments.Named(e.Name()) && l.isLog() {
			found = append(found, l)
		}
	}
	if len(found)+len(noHeader) == 0 {
		return nil, nil, fmt.Errorf("%s has no recorded log: want files that --record wrote", dir)
	}
	return found, noHeader, nil
}

// isLog reports whether a file is a log, or begins as one does although it is damaged.
func (l citedLog) isLog() bool {
	_, end, err := l.open()
	if err == nil {
		end()
		return true
	}
	in, err := os.Open(l.file)
	if err != nil {
		return false
	}
	defer in.Close()
	head := make([]byte, 200)
	n, _ := io.ReadFull(in, head)
	return bytes.Contains(head[:n], []byte(events.Format))
}

// findTxnLogs returns the transaction logs in a directory, or in version-2 of it, and the paths of those that it leaves
// out: only regular files are read, as a pipe would not end, and a link may lead anywhere. A path that is no directory
// is one log.
func findTxnLogs(dir string) (files, left []string, err error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, nil, err
	case !info.IsDir():
		return []string{dir}, nil, nil
	}
	var other []string
	for _, in := range []string{dir, filepath.Join(dir, "version-2")} {
		entries, err := os.ReadDir(in)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for _, e := range entries {
			switch file := filepath.Join(in, e.Name()); {
			case !isTxnLogName(e.Name()):
				other = append(other, e.Name())
			case e.Type().IsRegular():
				files = append(files, file)
			default:
				left = append(left, file)
			}
		}
		if len(files) > 0 {
			return files, left, nil
		}
	}
	why := "; it is empty"
	switch {
	case len(left) > 0:
		why = fmt.Sprintf("; %s is no regular file", events.Quote(left[0], events.MaxText))
	case len(other) > 0:
		why = fmt.Sprintf("; it has %s", events.Quote(strings.Join(other[:min(3, len(other))], ", "), events.MaxText))
	}
	return nil, nil, fmt.Errorf("%s has no transaction log: want the directory with a server's files log.*, plain or "+
		".gz, which is version-2 of its dataLogDir%s", dir, why)
}

// txnLogName is the name of a server's transaction log: with the number of a server before it, and gzipped, as people
// collect them.
var txnLogName = regexp.MustCompile(`^([0-9]+-)?log\.[0-9a-f]+(\.gz)?$`)

func isTxnLogName(name string) bool {
	return strings.HasPrefix(name, "log.") || txnLogName.MatchString(name)
}

// txnLogsNear returns a directory in or next to the logs that are named and that has transaction logs, "" if none has.
func txnLogsNear(args []string) string {
	for _, arg := range args {
		dir := arg
		if info, err := os.Stat(arg); err != nil {
			continue
		} else if !info.IsDir() {
			dir = filepath.Dir(arg)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.Type().IsRegular() && txnLogName.MatchString(e.Name()) {
				return dir
			}
			if !e.IsDir() {
				continue
			}
			near := filepath.Join(dir, e.Name())
			if files, _, err := findTxnLogs(near); err == nil && txnLogName.MatchString(filepath.Base(files[0])) {
				return near
			}
		}
	}
	return ""
}

// readTxnLogs reads the transaction logs of all servers.
func (e *explainer) readTxnLogs() ([]txnlog.Txn, error) {
	var all [][]txnlog.Txn
	for _, dir := range e.txnlogs {
		files, left, err := findTxnLogs(dir)
		if err != nil {
			return nil, cli.Exit(exitNoInput, fmt.Errorf("--txnlog: %w", err))
		}
		for _, file := range left {
			e.Note("--txnlog: %s is left out: it is no regular file", events.Quote(file, events.MaxText))
		}
		for _, file := range files {
			some, cut, err := readTxnLog(file)
			if err != nil {
				return nil, err
			}
			if cut != nil {
				e.Note("--txnlog: %s is damaged: %v; it is read up to there", events.Quote(file, events.MaxText), cut)
				e.txnsCut = true
			}
			all = append(all, some)
		}
	}
	txns, err := txnlog.Merge(all...)
	if err != nil {
		return nil, cli.Exit(exitDamaged, fmt.Errorf("--txnlog: %w", err))
	}
	return txns, nil
}

// upToDamage reads a gzipped file, and ends where that is damaged.
type upToDamage struct {
	packed  io.Reader
	damaged error
}

func (u *upToDamage) Read(p []byte) (int, error) {
	n, err := u.packed.Read(p)
	var unreadable *fs.PathError
	if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &unreadable) {
		u.damaged, err = err, io.EOF
	}
	return n, err
}

// readTxnLog reads one transaction log: a gzipped one that is damaged up to there, and cut says what is wrong with it.
func readTxnLog(file string) (some []txnlog.Txn, cut, err error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, nil, cli.Exit(exitNoInput, fmt.Errorf("--txnlog: %w", err))
	}
	defer in.Close()
	plain, packed := bufio.NewReader(in), &upToDamage{}
	if head, _ := plain.Peek(2); string(head) == "\x1f\x8b" {
		unpacked, err := gzip.NewReader(plain)
		if err != nil {
			return nil, nil, cli.Exit(exitDamaged, fmt.Errorf("--txnlog %s: %w", file, err))
		}
		packed.packed = unpacked
		plain = bufio.NewReader(packed)
	}
	some, err = txnlog.Read(plain)
	var unreadable *fs.PathError
	if errors.As(err, &unreadable) {
		return nil, nil, cli.Exit(exitNoInput, fmt.Errorf("--txnlog: %w", err))
	}
	if err != nil {
		return nil, nil, cli.Exit(exitDamaged, fmt.Errorf("--txnlog %s: %w", file, err))
	}
	return some, packed.damaged, nil
}
