// Genscrapes records what Prometheus would scrape from three clients in 40 seconds in which leadership moves, and draws
// it: the picture of docs/operations.md. `go run ./cmd/genscrapes` writes testdata/run.tsv and the picture again; the
// test draws the recorded run again.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/metrics"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const (
	recorded = "cmd/genscrapes/testdata/run.tsv"
	picture  = "docs/scrape.svg"
	length   = 40 * time.Second
	every    = 250 * time.Millisecond
)

// happenings are what is done to the clients, and when.
var happenings = []struct {
	at   time.Duration
	what string
}{{8 * time.Second, "a planned hand-over"}, {16 * time.Second, "answers 1 s late"}, {17 * time.Second, ""},
	{24 * time.Second, "silence for 3 s"}, {27 * time.Second, ""}, {36 * time.Second, "a planned hand-over"}}

func main() {
	rows, err := record()
	if err == nil {
		err = errors.Join(os.WriteFile(recorded, []byte(rows), 0o600),
			os.WriteFile(picture, []byte(draw(read(rows))), 0o600))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// instance is one client with its latch.
type instance struct {
	client *incumbent.Client
	latch  *incumbent.Latch
}

// record plays the run, and returns a line for each scrape of each client.
func record() (string, error) {
	srv := zkmem.New(zkmem.Options{Tick: time.Second})
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		return "", err
	}
	var all []instance
	for range 3 {
		c, err := incumbent.Open(context.Background(),
			incumbent.Config{Servers: srv.Addr(), SessionTimeout: 4 * time.Second, Tick: time.Second})
		if err != nil {
			return "", err
		}
		defer func() { _ = c.Close(context.Background()) }()
		l, err := c.Latch("/jobs/nightly", incumbent.LatchOptions{})
		if err = errors.Join(err, c.WaitConnected(context.Background()), l.Start()); err != nil {
			return "", err
		}
		all = append(all, instance{c, l})
	}
	out, begun, next := "ms\tclient\tleading\tmargin_sum\tmargin_count\n", time.Now(), 0
	for range time.Tick(every) {
		now := time.Since(begun)
		if now > length {
			break
		}
		for ; next < len(happenings) && now >= happenings[next].at; next++ {
			happen(srv, all, next)
		}
		for i, one := range all {
			row, err := scrape(one.client)
			if err != nil {
				return "", err
			}
			out += fmt.Sprintf("%d\t%c\t%s\n", now.Milliseconds(), 'a'+i, row)
		}
	}
	return out, nil
}

func happen(srv *zkmem.Server, all []instance, i int) {
	switch happenings[i].what {
	case "":
		srv.Heal()
	case "a planned hand-over":
		for _, one := range all {
			if one.latch.HasLeadership() {
				go func() { _ = one.latch.Resign(context.Background()) }()
			}
		}
	default:
		srv.Freeze(zkmem.Outbound)
	}
}

// scrape returns the three values that are recorded, as Prometheus would read them.
func scrape(c *incumbent.Client) (string, error) {
	var text strings.Builder
	if err := metrics.Write(&text, metrics.Families(), metrics.Of(c.Stats(), metrics.Options{})); err != nil {
		return "", err
	}
	var values []string
	for _, name := range []string{"incumbent_leading{", "incumbent_belief_margin_ratio_sum ",
		"incumbent_belief_margin_ratio_count "} {
		_, rest, _ := strings.Cut(text.String(), "\n"+name)
		line, _, _ := strings.Cut(rest, "\n")
		v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		values = append(values, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return strings.Join(values, "\t"), nil
}
