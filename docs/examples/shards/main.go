// Shards deals a job's shards out to its instances: the leader does, and hands a
// dead instance's shards on. An instance has none, one or many. Start it on
// several machines; copy it, and put your job into work.
//
// The leader is elected on Elastic-Job's nodes, below the job's own. Instances
// are ephemeral nodes in instances/, and the deal is one node, sharding, which
// only the leader writes, under its term and on top of the deal that it read. An
// instance does what the deal says. While a deal changes hands, a shard that moved
// may be worked on twice for the moment that the news needs; the deal's version
// grows with every change: hand it to the stores that the work writes to.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
)

// deal says which instance has which shards.
type deal map[string][]int

// instance is one process of the job.
type instance struct {
	job    string // the job's node
	id     string
	shards int
	conn   *zk.Conn // the instance's own node, and what it reads
	work   func(shards []int, version int32)
}

func main() {
	servers := flag.String("servers", "127.0.0.1:2181", "the ensemble")
	job := flag.String("job", "/jobs/shards", "the job's node")
	shards := flag.Int("shards", 5, "how many shards the job has")
	id := flag.String("id", incumbent.JobInstanceID(), "what this instance is called")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	conn, _, err := zk.Connect([]string{*servers}, 15*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: *servers})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.WithoutCancel(ctx))
	one := &instance{job: *job, id: *id, shards: *shards, conn: conn, work: work}
	if err := one.run(ctx, client); err != nil && ctx.Err() == nil {
		log.Print(err)
	}
}

// work begins with the shards that are this instance's from now on, and ends with
// all others.
func work(shards []int, version int32) { log.Printf("shards %v by deal %d", shards, version) }

// run joins the job, stands for its leadership, and does what the deals say.
func (i *instance) run(ctx context.Context, client *incumbent.Client) error {
	if err := i.join(); err != nil {
		return err
	}
	election, err := client.JobElection(i.job, incumbent.LatchOptions{ID: i.id})
	if err != nil {
		return err
	}
	led := make(chan error, 1)
	go func() { led <- election.Run(ctx, i.rule) }() // in each term, until ctx ends
	return errors.Join(i.obey(ctx), <-led)
}

// join makes the job's nodes where they are missing, and the instance's own.
func (i *instance) join() error {
	all := zk.WorldACL(zk.PermAll)
	parts := strings.Split(i.job+"/instances", "/")[1:]
	path := ""
	for _, part := range parts {
		path += "/" + part
		if _, err := i.conn.Create(path, nil, 0, all); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	if _, err := i.conn.Create(i.job+"/sharding", []byte("{}"), 0, all); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	_, err := i.conn.Create(path+"/"+i.id, nil, zk.FlagEphemeral, all)
	return err
}

// rule deals the shards out in one term of this instance. A deal that failed is tried again
// after a pause.
func (i *instance) rule(held *incumbent.Leadership) error {
	for {
		if err := i.deal(held); err != nil && held.Context().Err() == nil {
			log.Printf("%s: %v", i.id, err)
		}
		select {
		case <-held.Context().Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// deal is one term: every change of the instances is followed by a new deal.
func (i *instance) deal(held *incumbent.Leadership) error {
	for {
		if _, err := i.conn.Sync(i.job); err != nil { // the server may lag behind
			return err
		}
		alive, _, changed, err := i.conn.ChildrenW(i.job + "/instances")
		if err != nil {
			return err
		}
		data, stat, err := i.conn.Get(i.job + "/sharding")
		if err != nil {
			return err
		}
		last := deal{}
		if err := json.Unmarshal(data, &last); err != nil {
			return fmt.Errorf("%s/sharding: %w", i.job, err)
		}
		if next := share(last, alive, i.shards); !maps.EqualFunc(last, next, slices.Equal) {
			text, _ := json.Marshal(next) // names and numbers
			if _, err := held.Write(held.Context(), incumbent.SetData(i.job+"/sharding", text, stat.Version)); err != nil {
				return err
			}
		}
		select {
		case <-changed:
		case <-held.Context().Done():
			return nil
		}
	}
}

// share deals so many shards to these instances: each keeps what it has, up to a
// fair share; what is left goes to those that have the least.
func share(last deal, alive []string, shards int) deal {
	next := deal{}
	if len(alive) == 0 {
		return next
	}
	alive = slices.Sorted(slices.Values(alive))
	least, more := shards/len(alive), shards%len(alive) // so many have one more
	free := map[int]bool{}
	for s := range shards {
		free[s] = true
	}
	for _, id := range alive {
		next[id] = []int{}
	}
	for pass := range 2 { // first the fair share of all, then the one more of some
		for _, id := range alive {
			for _, s := range last[id] {
				fair := least
				if pass == 1 && more > 0 {
					fair++
				}
				if len(next[id]) < fair && free[s] {
					next[id] = append(next[id], s)
					delete(free, s)
					if len(next[id]) > least {
						more--
					}
				}
			}
		}
	}
	for _, s := range slices.Sorted(maps.Keys(free)) {
		id := slices.MinFunc(alive, func(a, b string) int { return cmp.Compare(len(next[a]), len(next[b])) })
		next[id] = append(next[id], s)
	}
	for _, own := range next {
		slices.Sort(own)
	}
	return next
}

// obey does what the deals say until the context ends.
func (i *instance) obey(ctx context.Context) error {
	for {
		data, stat, changed, err := i.conn.GetW(i.job + "/sharding")
		if err != nil {
			return err
		}
		now := deal{}
		if err := json.Unmarshal(data, &now); err != nil {
			return fmt.Errorf("%s/sharding: %w", i.job, err)
		}
		i.work(now[i.id], stat.Version)
		select {
		case event := <-changed:
			if event.Err != nil { // the connection is gone: others may have our shards soon
				i.work(nil, stat.Version)
				return event.Err
			}
		case <-ctx.Done():
			return nil
		}
	}
}
