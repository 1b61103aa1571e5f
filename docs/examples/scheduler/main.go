// Scheduler runs a job by the clock on one of many instances: wherever leadership
// is. Start it on several machines; copy it, and put your job into work.
//
// The schedule starts when leadership comes and stops when it goes. That alone
// would let a tick fire twice in a hand-over, and get lost between two leaders.
// So the last tick that was begun is kept in ZooKeeper, in the ledger: a tick is
// written there before it is run, by a write that commits only under this very
// term and on top of the entry that was read. The next leader begins with the
// tick after it: what nobody began is run late, or told as missed when it is too
// old; what was begun and not ended is told, and not run again.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"

	"github.com/incumbent-go/incumbent"
)

// entry is what the ledger says of the last tick.
type entry struct {
	Tick  time.Time `json:"tick"`
	Token int64     `json:"token"` // of the term in which it was begun
	Done  bool      `json:"done"`  // it has ended, or was told as missed
}

// scheduler is one instance.
type scheduler struct {
	client  *incumbent.Client
	ledger  string
	crontab string // as in "*/5 * * * *", UTC
	late    time.Duration
	clock   clockwork.Clock
	work    func(ctx context.Context, tick time.Time, token int64) error
	say     func(format string, args ...any)
}

func main() {
	servers := flag.String("servers", "127.0.0.1:2181", "the ensemble")
	path := flag.String("path", "/jobs/scheduler", "the line's directory; the ledger is next to it")
	crontab := flag.String("cron", "* * * * *", "when to run, in UTC")
	late := flag.Duration("late", time.Hour, "how late a tick may still be run; an older one is told as missed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *servers, *path, *crontab, *late); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, servers, path, crontab string, late time.Duration) error {
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		return err
	}
	defer client.Close(context.WithoutCancel(ctx))
	s := &scheduler{client: client, ledger: path + "-ledger", crontab: crontab, late: late,
		clock: clockwork.NewRealClock(), work: work, say: log.Printf}
	return s.follow(ctx, path)
}

// work is the job. It must heed its context, and hand the token to every store
// that it writes to.
func work(ctx context.Context, tick time.Time, token int64) error {
	log.Printf("tick %s under token %d", tick.Format(time.RFC3339), token)
	return nil
}

// follow runs the schedule in every term of this instance, until the context ends.
// A term whose work failed is followed by a pause that grows.
func (s *scheduler) follow(ctx context.Context, path string) error {
	selector, err := s.client.Selector(path, s.lead, incumbent.SelectorOptions{AutoRequeue: true})
	if err != nil {
		return err
	}
	return selector.Run(ctx)
}

// lead is one term. The library wakes us when a tick is due; which ticks are due
// is told by the ledger.
func (s *scheduler) lead(held *incumbent.Leadership) error {
	wake := make(chan struct{}, 1)
	cron, err := gocron.NewScheduler(gocron.WithClock(s.clock), gocron.WithLocation(time.UTC))
	if err != nil {
		return err
	}
	defer func() { _ = cron.Shutdown() }() // what it runs does not block
	_, err = cron.NewJob(gocron.CronJob(s.crontab, false), gocron.NewTask(func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}))
	if err != nil {
		return err
	}
	cron.Start()
	last, version, err := s.open(held)
	if err != nil {
		return err
	}
	s.say("leading under token %d", held.Token())
	defer s.say("no longer leading under token %d", held.Token())
	for {
		if last, version, err = s.catchUp(held, last, version); err != nil {
			return err
		}
		select {
		case <-wake:
		case <-held.Context().Done():
			return nil
		}
	}
}

// open reads the ledger, or makes it. The sync is for a server that lags behind.
func (s *scheduler) open(held *incumbent.Leadership) (entry, int32, error) {
	last := entry{Tick: s.clock.Now().UTC(), Token: held.Token(), Done: true}
	if err := s.client.Sync(s.ledger).Do(held.Context()); err != nil {
		return last, 0, err
	}
	node, err := s.client.Get(s.ledger).Do(held.Context())
	if errors.Is(err, incumbent.ErrNoNode) {
		_, err = held.Write(held.Context(), incumbent.CreateNode(s.ledger, encode(last)))
		return last, 0, err
	}
	if err != nil {
		return last, 0, err
	}
	if err := json.Unmarshal(node.Data, &last); err != nil {
		return last, 0, fmt.Errorf("the ledger %s: %w", s.ledger, err)
	}
	if !last.Done {
		s.say("tick %s was begun under token %d, and nobody says that it ended: it is not run again",
			last.Tick.Format(time.RFC3339), last.Token)
	}
	return last, node.Stat.Version, nil
}

// catchUp runs every tick since the last one, in order.
func (s *scheduler) catchUp(held *incumbent.Leadership, last entry, version int32) (entry, int32, error) {
	plan := gocron.NewDefaultCron(false)
	now := s.clock.Now().UTC()
	if err := plan.IsValid(s.crontab, time.UTC, now); err != nil {
		return last, version, err
	}
	for tick := plan.Next(last.Tick); !tick.After(now); tick = plan.Next(last.Tick) {
		missed := now.Sub(tick) > s.late
		begun := entry{Tick: tick, Token: held.Token(), Done: missed}
		next, err := s.write(held, begun, version)
		if err != nil {
			return last, version, err
		}
		last, version = begun, next
		if missed {
			s.say("tick %s was missed", tick.Format(time.RFC3339))
			continue
		}
		if err := s.work(held.Context(), tick, held.Token()); err != nil {
			return last, version, fmt.Errorf("tick %s: %w", tick.Format(time.RFC3339), err)
		}
		last.Done = true
		if version, err = s.write(held, last, version); err != nil {
			return last, version, err
		}
	}
	return last, version, nil
}

// write puts an entry on top of the one that was read, under this term only. When
// the answer is lost (ErrOutcomeUnknown) the term's work ends, and the next
// begins with what the ledger says.
func (s *scheduler) write(held *incumbent.Leadership, e entry, version int32) (int32, error) {
	results, err := held.Write(context.WithoutCancel(held.Context()), incumbent.SetData(s.ledger, encode(e), version))
	if err != nil {
		return version, err
	}
	return results[0].Stat.Version, nil
}

func encode(e entry) []byte {
	b, _ := json.Marshal(e) // a time, a number and a flag
	return b
}
