package incumbent_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Order is what the queues of these examples hold.
type Order struct {
	Dish   string
	Guests int
}

func ExampleQueue() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	queue, err := incumbent.NewQueue(client, "/kitchen/orders", incumbent.QueueOptions[Order]{})
	if err != nil {
		panic(err)
	}
	// All or none, in this order; if a reply is lost, nothing is put twice.
	if err := queue.Put(ctx, Order{"soup", 2}, Order{"tart", 1}); err != nil {
		panic(err)
	}
	served := make(chan struct{}, 2)
	consumer, err := queue.AtLeastOnce(func(ctx context.Context, d incumbent.Delivery[Order]) error {
		fmt.Println(d.Item.Dish, "for", d.Item.Guests)
		served <- struct{}{}
		return nil // now it is deleted
	}, incumbent.ConsumerOptions{})
	if err != nil {
		panic(err)
	}
	if err := consumer.Start(); err != nil {
		panic(err)
	}
	<-served
	<-served
	if err := consumer.Close(ctx); err != nil {
		panic(err)
	}
	// Output:
	// soup for 2
	// tart for 1
}

// A poison item fails as often as Tries says, and then goes to the dead letters. They are a
// queue of the same kind.
func ExampleConsumerOptions() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	queue, err := incumbent.NewQueue(client, "/kitchen/orders",
		incumbent.QueueOptions[Order]{DeadLetterPath: "/kitchen/refused"})
	if err != nil {
		panic(err)
	}
	if err := queue.Put(ctx, Order{"stone soup", 2}); err != nil {
		panic(err)
	}
	consumer, err := queue.AtLeastOnce(func(ctx context.Context, d incumbent.Delivery[Order]) error {
		fmt.Println("try", d.Try)
		return errors.New("no such dish")
	}, incumbent.ConsumerOptions{Tries: 2, Backoff: incumbent.RetryForever(time.Millisecond)})
	if err != nil {
		panic(err)
	}
	if err := consumer.Start(); err != nil {
		panic(err)
	}
	refused, err := incumbent.NewQueue(client, "/kitchen/refused", incumbent.QueueOptions[Order]{})
	if err != nil {
		panic(err)
	}
	taken := make(chan Order)
	other, err := refused.AtMostOnce(func(ctx context.Context, d incumbent.Delivery[Order]) { taken <- d.Item },
		incumbent.ConsumerOptions{})
	if err != nil {
		panic(err)
	}
	if err := other.Start(); err != nil {
		panic(err)
	}
	fmt.Println("refused:", (<-taken).Dish)
	// Output:
	// try 1
	// try 2
	// refused: stone soup
}

func ExamplePriorityQueue() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	queue, err := incumbent.NewPriorityQueue(client, "/kitchen/orders", incumbent.QueueOptions[string]{})
	if err != nil {
		panic(err)
	}
	for _, put := range []error{
		queue.Priority(5).Put(ctx, "soup", "tart"),
		queue.Priority(-1).Put(ctx, "water"),
	} {
		if put != nil {
			panic(put)
		}
	}
	served := make(chan string)
	consumer, err := queue.AtMostOnce(func(ctx context.Context, d incumbent.Delivery[string]) { served <- d.Item },
		incumbent.ConsumerOptions{})
	if err != nil {
		panic(err)
	}
	if err := consumer.Start(); err != nil {
		panic(err)
	}
	fmt.Println(<-served, <-served, <-served)
	// Output: water soup tart
}

func ExampleDelayQueue() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	queue, err := incumbent.NewDelayQueue(client, "/kitchen/oven", incumbent.QueueOptions[string]{})
	if err != nil {
		panic(err)
	}
	for _, put := range []error{
		queue.After(20*time.Millisecond).Put(ctx, "bread"),
		queue.At(time.Date(2024, time.May, 5, 12, 0, 0, 0, time.UTC)).Put(ctx, "tart"), // due long ago
	} {
		if put != nil {
			panic(put)
		}
	}
	done := make(chan string)
	consumer, err := queue.AtMostOnce(func(ctx context.Context, d incumbent.Delivery[string]) { done <- d.Item },
		incumbent.ConsumerOptions{})
	if err != nil {
		panic(err)
	}
	if err := consumer.Start(); err != nil {
		panic(err)
	}
	fmt.Println(<-done, <-done)
	// Output: tart bread
}

func ExampleIDQueue() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	queue, err := incumbent.NewIDQueue(client, "/kitchen/orders", incumbent.QueueOptions[string]{})
	if err != nil {
		panic(err)
	}
	for table, dish := range []string{"soup", "tart", "soup"} {
		if err := queue.ID(fmt.Sprintf("table/%d", table%2)).Put(ctx, dish); err != nil {
			panic(err)
		}
	}
	removed, err := queue.Remove(ctx, "table/0")
	if err != nil {
		panic(err)
	}
	fmt.Println(removed, "orders taken back")
	// Output: 2 orders taken back
}

// One instance of a job that ElasticJob has configured: it elects itself, deals itself all three items, and runs them
// at a
// trigger. A JobOptions.Schedule would trigger it in every period.
func ExampleJob() {
	srv := zkmem.New(zkmem.Options{})
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := open(ctx, srv.Addr())
	defer client.Close(context.Background())
	config := "jobName: report\nshardingTotalCount: 3\nshardingItemParameters: " +
		"0=Berlin,1=Paris,2=Rome\nmonitorExecution: true\n"
	if _, err := client.Create("/jobs/report/config", []byte(config)).Parents().Do(ctx); err != nil {
		panic(err)
	}

	job, err := client.Job("/jobs/report", incumbent.JobOptions{ID: "192.0.2.7@-@1"})
	if err != nil {
		panic(err)
	}
	var reports sync.Map
	var all sync.WaitGroup
	all.Add(3)
	ended := make(chan error)
	go func() {
		ended <- job.Run(ctx, func(ctx context.Context, item *incumbent.Item) error {
			defer all.Done()
			reports.Store(item.Number, "report of "+item.Parameter)
			return nil
		})
	}()
	dealt := func(v *zkmem.View) bool { return v.Exists("/jobs/report/sharding/2/instance") }
	if err := errors.Join(srv.WaitFor(ctx, dealt), job.Trigger(ctx)); err != nil {
		panic(err)
	}
	all.Wait()
	stop() // as at SIGTERM: the instance hands over, and Run returns nil
	fmt.Println("ended:", <-ended)
	for number := range 3 {
		report, _ := reports.Load(number)
		fmt.Println(number, report)
	}
	// Output:
	// ended: <nil>
	// 0 report of Berlin
	// 1 report of Paris
	// 2 report of Rome
}

func ExampleJobElection() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	job, err := client.JobElection("/my-namespace/my-job", incumbent.JobElectionOptions{ID: "10.0.0.1@-@4711"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := job.ElectLeader(ctx); err != nil { // now there is a leader
		fmt.Println(err)
		return
	}
	first, _, _ := job.First(ctx)
	fmt.Println("the first is", first.ID)

	leads, _ := job.IsLeaderUntilBlock(ctx)
	fmt.Println("this instance leads:", leads)

	held, err := job.Await(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	// It is written by the leader, or not at all.
	_, err = held.Write(held.Context(), incumbent.CreateNode("/my-namespace/my-job/sharding", nil))
	fmt.Println("written:", err == nil)
	held.Release()

	err = job.ExecuteInLeader(ctx, "leader/failover/latch", func(*incumbent.Leadership) error {
		fmt.Println("one instance at a time")
		return nil
	})
	fmt.Println("executed:", err == nil)

	// Output:
	// the first is 10.0.0.1@-@4711
	// this instance leads: true
	// written: true
	// one instance at a time
	// executed: true
}
