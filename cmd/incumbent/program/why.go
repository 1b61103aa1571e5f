package program

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/machines"
)

// explainer is one run of why.
type explainer struct {
	*app
	path                  string
	around, since, until  string
	clock                 string
	token                 int64
	shard                 int
	chosen                *int // shard, if it was given
	txnlogs               []string
	txnsCut               bool // one of them is damaged
	full, facts, redacted bool
	noReplay              bool
	trace, html           string
	progress              progress
	rows                  map[*why.Log]*page.Rows // for --html
	kept                  []*page.Rows            // those of the logs that are explained
	budget                page.Budget
	files                 map[*why.Log]citedLog
	logs                  []*why.Log // those that are explained
}

const whyHelp = `Explain from recorded logs why leadership moved, and whether two ever had the right
to believe at once.

Each LOG is a file that --record wrote, plain or gzipped, or a directory of such
files. Give the logs of all participants of the line, and those of one ensemble: why
aligns the clocks of their hosts by what the logs have in common, and says with which
error. Dumps of one client are joined, also where they overlap. --txnlog names the
directory of a server's transaction logs (version-2 of its dataLogDir; plain or .gz): it
shows who deleted what, and when sessions expired. Give it once for each server, or for
one. Those of another ensemble are left out, and the first line says so.

The first line has up to three verdicts: whether two had the right to lead at once,
whether two worked at once, and what became of guarded writes (Leadership.Write). When
work ended is in the log; of the commands of elect and lock it is in the files
*.commands and *.commands.gz, which --record writes next to the logs: give them, too.

Then comes a summary: who leads where the logs end, who holds (in --json: holders) if
several may, or since when nobody leads and which node of whose process is in the way; for
how long nobody led; who was skipped and why; and what to do. Several lines are a table,
those in trouble first.

Each line after that is one move: who led, until when, why that ended, what became of
the node, who leads next and by which transition, and how long nobody had the right to
believe. A sentence ends with its records, as in [host1:43], which "incumbent replay
--print host1.log" shows. "Proven" is by the order of records and zxids, "measured" by
clocks whose error is smaller than what they show.

Of a group of shards, the summary says who owns which, and how many each member lost or
gave up for which cause; --json has all of them. Shards that move together are one line.
--shard 3 shows one. A move says which member assigned the shard to which, and for how
long the next owner had to wait for the work of the last.

Of an ElasticJob job, a move says which items its new leader dealt to which instance, which
it offered to others because theirs had died, who took them over, and what was refused. The
log of an instance has what it did itself.

--around 12:03 shows the moves of that minute. If there is none, it shows the nearest,
and a line says so, and who led throughout; a time outside of the logs is an error (64).
The verdict and the exit code are about the moves that are shown; the time may be that of
any host's clock. Times are shown by the clock that most hosts agree on, with that of the
ensemble's leader as one of them; --clock names another. They are UTC, not local, as
12:03, 12:03:30, 2026-11-25T12:03:30Z; without a day, the last day of the logs.

--html writes a page: one file that needs no network, and opens from the disk. It has
the moves, who might believe and whose node stood, the causes of each record, and the
charts. With --redact, its records have no effects, paths and texts.

A log is replayed first, so that what it says is what the machines did. A log of a
version with other charts cannot be: it is explained without that, and a line says so.

Exit codes:
   0  explained: never two with the right, and no two at work as far as that is recorded
   2  a log is damaged (the line and why)
   3  a log does not replay
   4  two had the right to believe at once
   5  cannot tell, and what is missing
   7  never two with the right, or cannot tell, and two worked at once
   8  a guarded write was committed out of its term
   9  never two with the right; whether two worked at once is not recorded
  64  the command line is wrong, or --around is outside of the logs
  66  a file cannot be read
  73  the file of --trace or --html cannot be written`

func (a *app) why() *cobra.Command {
	e := &explainer{app: a}
	c := &cobra.Command{
		Use:   "why LOG…",
		Short: "explain from recorded logs why leadership moved",
		Long:  whyHelp,
		Example: "  incumbent why a.log b.log c.log --around 12:03\n  incumbent why /var/log/incumbent --path " +
			"/jobs/nightly --txnlog /var/lib/zookeeper/version-2 --full",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exactly("a LOG")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := e.check(c); err != nil {
				return err
			}
			return e.run(args)
		},
	}
	f := c.Flags()
	f.StringVar(&e.path, "path", "", "only the moves of this line")
	f.IntVar(&e.shard, "shard", 0, "only the moves of this shard")
	f.StringVar(&e.around, "around", "", "only the moves of this minute, or the nearest")
	f.StringVar(&e.since, "since", "", "only moves at or after this time")
	f.StringVar(&e.until, "until", "", "only moves before this time")
	f.StringVar(&e.clock, "clock", "", "show times by the clock of this log or host, or of the \"ensemble\"")
	f.Int64Var(&e.token, "token", 0, "only the moves to and from the term with this token")
	f.StringArrayVar(&e.txnlogs, "txnlog", nil, "a directory with a server's transaction logs; may be repeated")
	f.BoolVar(&e.full, "full", false, "print every move, with the records that led to it")
	f.BoolVar(&e.facts, "facts", false, "print terms, nodes, sessions, moves and proofs, one JSON object a line")
	f.BoolVar(&e.redacted, "redact", false, "replace paths, ids, hosts and servers by pseudonyms")
	f.StringVar(&e.trace, "trace", "", "write a trace for Perfetto or chrome://tracing to this file, too")
	f.StringVar(&e.html, "html", "", "write a page to this file, too: lanes, moves, causes, records and charts")
	f.BoolVar(&e.noReplay, "no-replay", false, "do not replay the logs first")
	a.JSONFlag(c)
	return c
}

// check returns what is wrong with the flags, before anything is read.
func (e *explainer) check(c *cobra.Command) error {
	switch {
	case e.path != "" && (!strings.HasPrefix(e.path, "/") || len(e.path) > 1 && strings.HasSuffix(e.path, "/")):
		return cli.Usage("--path %q is no path: want one like /jobs/nightly, without a / at its end", e.path)
	case c.Flags().Changed("path") && e.path == "":
		return cli.Usage("--path is empty: want one like /jobs/nightly")
	case c.Flags().Changed("token") && e.token < 1:
		return cli.Usage("--token %d is no token: want the number that a sentence names, as in \"token 7\"", e.token)
	}
	if c.Flags().Changed("shard") {
		e.chosen = &e.shard
		if e.shard < 0 || e.shard >= machines.MaxShards {
			return cli.Usage("--shard %d is no shard: want a number from 0 to %d", e.shard, machines.MaxShards-1)
		}
	}
	if err := e.checkOutputs(c); err != nil {
		return err
	}
	_, err := e.options(nil)
	return err
}

func (e *explainer) run(args []string) error {
	defer collectOften()()
	txns, err := e.readTxnLogs()
	if err != nil {
		return err
	}
	files, noHeader, err := findLogs(args)
	if err != nil {
		return cli.Exit(exitNoInput, err)
	}
	e.tellNoHeader(noHeader)
	if e.Err.IsTerminal() {
		defer e.progress.begin(func(text string) { e.Note("%s", text) })()
	}
	logs, err := e.readAll(files)
	if err != nil {
		return err
	}
	e.progress.ended.Store(true)
	e.collectMore()
	logs, left := why.LeaveOutDuplicates(logs)
	for _, l := range left {
		more := ""
		if l.Unexplained() {
			more = "; it has others, so explain it alone, too"
		}
		e.Note("%s is left out: it is of the same client as %s, and has no more records%s", l.Out.Name,
			l.For.Name, more)
	}
	e.logs = logs
	for _, l := range logs {
		e.kept = append(e.kept, e.rows[l])
	}
	e.rows = nil
	o, err := e.options(logs)
	if err != nil {
		return err
	}
	if o.Commands, err = e.readCommands(args); err != nil {
		return err
	}
	if o.Clock, err = e.clockOf(logs); err != nil {
		return err
	}
	o.TxnsCut = e.txnsCut
	if e.redacted {
		o.Redact(why.Redact(logs, txns))
	}
	r := why.Explain(logs, txns, o)
	if err := e.outside(logs, r); err != nil {
		return err
	}
	d, err := e.document(r)
	if err != nil {
		return err
	}
	if err := e.print(r); err != nil {
		return err
	}
	if near := txnLogsNear(args); near != "" && len(e.txnlogs) == 0 && r.Open() {
		e.Note("the servers' transaction logs in %s were not read: add --txnlog %s", near, near)
	}
	verdict := verdictCode(r) // behind which the report is not needed, and may be large
	if err := e.writePage(d); err != nil {
		return err
	}
	return verdict
}

// outside returns an error if the time in --around is before all records of the logs, or after them.
func (e *explainer) outside(logs []*why.Log, r *why.Report) error {
	var from, to time.Time
	for _, l := range logs {
		first, last := l.Span()
		if l.Records == 0 {
			continue
		}
		if from.IsZero() || first.Before(from) {
			from = first
		}
		if last.After(to) {
			to = last
		}
	}
	at := r.NoneAround()
	if at.IsZero() || from.IsZero() || !at.Add(time.Minute).Before(from) && !at.After(to) {
		return nil
	}
	const form = "2006-01-02 15:04:05"
	return cli.Usage("--around %s is outside the logs: they are from %s to %s UTC", e.around,
		from.Format(form), to.Format(form))
}

// clockOf returns the name in --clock, if there is a log of it.
func (e *explainer) clockOf(logs []*why.Log) (string, error) {
	known := why.ClockNames(logs)
	if e.clock != "" && !slices.Contains(known, e.clock) {
		return "", cli.Usage("--clock %s: there is no such log or host: want one of %s", events.Quote(e.clock,
			events.MaxName),
			strings.Join(known, ", "))
	}
	return e.clock, nil
}

// verdictCode returns the error whose exit code the verdicts mean, nil for 0: what is shown comes before what is not.
// They were printed.
func verdictCode(r *why.Report) error {
	switch {
	case r.Verdict == why.TwoAtOnce:
		return &cli.ExitError{Code: exitTwo}
	case r.Work == why.WorkTwo:
		return &cli.ExitError{Code: exitTwoWorked}
	case r.Writes.Verdict == why.WritesLate:
		return &cli.ExitError{Code: exitLateWrite}
	case r.Verdict == why.CannotTell:
		return &cli.ExitError{Code: exitCannotTell}
	case r.Work == why.WorkUnknown:
		return &cli.ExitError{Code: exitWorkOpen}
	}
	return nil
}

// logError returns the error with the exit code that a reader's error means, nil for none.
func logError(f citedLog, err error) error {
	if err == nil {
		return nil
	}
	code := exitNoInput
	var damaged *events.DamagedError
	if errors.As(err, &damaged) {
		code, err = exitDamaged, damaged
	}
	return cli.Exit(code, fmt.Errorf("%s: %w", f.file, err))
}

func (e *explainer) print(r *why.Report) error {
	if e.trace != "" {
		b, err := r.Trace()
		if err == nil {
			err = os.WriteFile(e.trace, b, 0o600)
		}
		if err != nil {
			return cli.Exit(cli.ExitNoOutput, fmt.Errorf("--trace: %w", err))
		}
	}
	switch {
	case e.facts:
		for f := range r.EachFact() {
			e.Out.Object(f)
		}
	case e.JSON:
		for f := range r.EachOfSummary() {
			e.Out.Object(f)
		}
	default:
		for line := range r.EachLine(e.full) {
			e.Out.Line("%s", oneLine(line))
		}
	}
	return nil
}

// options reads the times, for which the logs say the day.
func (e *explainer) options(logs []*why.Log) (o why.Options, err error) {
	var day time.Time
	for _, l := range logs {
		if _, last := l.Span(); last.After(day) {
			day = last
		}
	}
	o = why.Options{Path: e.path, Token: e.token, Shard: e.chosen}
	var errs [3]error
	o.Around, errs[0] = whenever("around", e.around, day)
	o.Since, errs[1] = whenever("since", e.since, day)
	o.Until, errs[2] = whenever("until", e.until, day)
	if err := cmp.Or(errs[0], errs[1], errs[2]); err != nil {
		return o, err
	}
	if !o.Since.IsZero() && !o.Until.IsZero() && !o.Since.Before(o.Until) {
		return o, cli.Usage("--since %s is not before --until %s: nothing is between them", e.since, e.until)
	}
	return o, nil
}

// whenever reads a time, UTC if it has no zone, and of a day if it has none.
func whenever(flag, text string, day time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} { // a fraction of a second is read, too
		if t, err := time.Parse(layout, text); err == nil {
			day = day.UTC()
			return time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), t.Second(),
				t.Nanosecond(), time.UTC), nil
		}
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05",
		"2006-01-02 15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, cli.Usage("--%s %q is no time: want 12:03, 12:03:30 or 2026-11-25T12:03:30Z", flag, text)
}
