package small

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// Replay takes the steps of a result's trace again, with logs and a story. It
// returns what promises the last state breaks.
func Replay(r Result) (story []string, logs [][]events.Record, wrongs []string) {
	w := newWorld(&r.Config, true)
	for i, s := range r.Trace {
		if i == len(r.Trace)-r.Round {
			w.tell("ROUND: the next %d steps lead back to this state, and can be repeated without end", r.Round)
		}
		w = w.take(s)
	}
	broken := w.wrongs
	if len(broken) == 0 {
		broken = r.Broken // what a way shows, and no state
	}
	for _, wrong := range broken {
		w.tell("VIOLATION %s", wrong)
	}
	for _, c := range w.clients {
		logs = append(logs, c.log)
	}
	return w.story, logs, w.wrongs
}

// line returns a record as a golden trace shows it.
func line(c *client, r events.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", c.name(), r.Machine, r.Event.Kind)
	for _, word := range []string{r.Event.Path, string(r.Event.Code), r.Event.Name} {
		if word != "" {
			b.WriteString(" " + word)
		}
	}
	if len(r.Event.Children) > 0 {
		fmt.Fprintf(&b, " children=(%s)", strings.Join(r.Event.Children, ","))
	}
	fmt.Fprintf(&b, "\n    %s --%s--> %s", r.From, r.Row, r.To)
	for _, e := range r.Effects.Strings() {
		b.WriteString("\n      " + e)
	}
	return b.String()
}

// WriteLogs writes one log for each client, for incumbent replay, into a
// folder of their own, and says where they are.
func WriteLogs(folder string, logs [][]events.Record) (files []string, err error) {
	for i, log := range logs {
		file := filepath.Join(folder, fmt.Sprintf("small-%c.jsonl", 'A'+i))
		f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return files, err
		}
		if err := writeLog(f, log); err != nil {
			_ = f.Close()
			return files, err
		}
		if err := f.Close(); err != nil {
			return files, err
		}
		files = append(files, file)
	}
	return files, nil
}

func writeLog(to io.Writer, log []events.Record) error {
	out, err := events.NewWriter(to, events.Header{Library: "small worlds"})
	if err != nil {
		return err
	}
	for _, r := range log {
		if err := out.Write(r); err != nil {
			return err
		}
	}
	return out.Flush()
}
