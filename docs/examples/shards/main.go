// Shards deals a job's shards out to its instances: the leader does, and hands a
// dead instance's shards on. An instance has none, one or many. Start it on
// several machines; copy it, and put your job into work.
//
// The leader is elected on ElasticJob's nodes, below the job's own; all else is this program's own layout, so it
// refuses the path of an ElasticJob job. Instances are ephemeral nodes in instances/, created again in each session,
// and the deal is one node, sharding, which only the leader writes, under its term and on top of the deal that it
// read. An instance does what the deal says, and nothing while it has no connection: others may have its shards then.
// While a deal changes hands, a shard that moved may be worked on twice for the moment that the news needs; the
// deal's version grows with every change: hand it to the stores that the work writes to.
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
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent"
)

// deal says which instance has which shards.
type deal map[string][]int

// instance is one process of the job.
type instance struct {
	client *incumbent.Client
	job    string // the job's node
	id     string
	shards int
	work   func(shards []int, version int32)
}

func main() {
	servers := flag.String("servers", "127.0.0.1:2181", "the ensemble")
	job := flag.String("job", "/jobs/shards", "the job's node")
	shards := flag.Int("shards", 5, "how many shards the job has")
	id := flag.String("id", incumbent.JobInstanceID(), "what this instance is called")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: *servers})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.WithoutCancel(ctx))
	one := &instance{client: client, job: *job, id: *id, shards: *shards, work: work}
	if err := one.run(ctx); err != nil && ctx.Err() == nil {
		log.Print(err)
	}
}

// work begins with the shards that are this instance's from now on, and ends with
// all others.
func work(shards []int, version int32) { log.Printf("shards %v by deal %d", shards, version) }

// run joins the job, stands for its leadership, and does what the deals say, until the context ends.
func (i *instance) run(ctx context.Context) error {
	if err := i.client.WaitConnected(ctx); err != nil {
		return err
	}
	if err := i.mustNotBeElasticJobs(ctx); err != nil {
		return err
	}
	_, err := i.client.Create(i.job+"/sharding", []byte("{}")).Parents().Do(ctx)
	if err != nil && !errors.Is(err, incumbent.ErrNodeExists) {
		return err
	}
	own, err := i.client.PersistentNode(i.job+"/instances/"+i.id, nil, incumbent.PersistentNodeOptions{})
	if err == nil {
		err = own.Start()
	}
	if err != nil {
		return err
	}
	defer own.Close(context.WithoutCancel(ctx))
	election, err := i.client.JobElection(i.job, incumbent.LatchOptions{ID: i.id})
	if err != nil {
		return err
	}
	led := make(chan error, 1)
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		defer end()
		led <- election.Run(ctx, i.rule) // in each term, until ctx ends
	}()
	i.obey(ctx)
	return <-led
}

// mustNotBeElasticJobs refuses a path that an ElasticJob job has: its Java instances could not read the nodes of this
// program, and would stop. Such a job has its configuration and its servers below its node, and this layout has
// neither.
func (i *instance) mustNotBeElasticJobs(ctx context.Context) error {
	for _, name := range []string{"config", "servers"} {
		found, err := i.client.Exists(i.job + "/" + name).Do(ctx)
		if err != nil {
			return err
		}
		if found != nil {
			return fmt.Errorf("%s is an ElasticJob job, as it has the node %q: the layout of this program is its own, so give it another path", i.job, name)
		}
	}
	return nil
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
	for now, err := range i.client.WatchChildren(held.Context(), i.job+"/instances") {
		if err != nil {
			return err
		}
		node, err := i.client.Get(i.job + "/sharding").Do(held.Context())
		if err != nil {
			return err
		}
		last := deal{}
		if err := json.Unmarshal(node.Data, &last); err != nil {
			return fmt.Errorf("%s/sharding: %w", i.job, err)
		}
		next := share(last, now.Children, i.shards)
		if maps.EqualFunc(last, next, slices.Equal) {
			continue
		}
		text, _ := json.Marshal(next) // names and numbers
		// It is refused if another deal was written since: the server that was read from may lag behind.
		if _, err := held.Write(held.Context(), incumbent.SetData(i.job+"/sharding", text, node.Stat.Version)); err != nil {
			return err
		}
	}
	return nil
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

// obey does what the deals say whenever there is a connection, until the context ends.
func (i *instance) obey(ctx context.Context) {
	for ctx.Err() == nil && i.client.WaitConnected(ctx) == nil {
		connected, cut := context.WithCancel(ctx)
		remove := i.client.OnConnection(func(s incumbent.ConnectionState) {
			if s != incumbent.Connected && s != incumbent.Reconnected {
				cut()
			}
		})
		i.follow(connected)
		remove()
		cut()
	}
}

// follow does what the deals say until the context ends, and nothing from then on.
func (i *instance) follow(ctx context.Context) {
	defer i.work(nil, 0) // others may have our shards soon
	for node, err := range i.client.WatchNode(ctx, i.job+"/sharding") {
		now := deal{}
		if err == nil {
			err = json.Unmarshal(node.Data, &now)
		}
		if err != nil {
			log.Printf("%s: %s/sharding: %v", i.id, i.job, err)
			continue
		}
		if ctx.Err() == nil {
			i.work(now[i.id], node.Stat.Version)
		}
	}
}
