package incumbent_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// ensemble is an in-memory ZooKeeper for the examples. Your program uses the connect string
// of your own ensemble: "zk1:2181,zk2:2181,zk3:2181".
func ensemble() (servers string, stop func()) {
	srv := zkmem.New(zkmem.Options{})
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	return srv.Addr(), srv.Close
}

// open is Open without error handling.
func open(ctx context.Context, servers string) *incumbent.Client {
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		panic(err)
	}
	return client
}

func ExampleOpen() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()

	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		fmt.Println(err) // it says which setting is wrong, and what would be right
		return
	}
	defer client.Close(ctx)

	if err := client.WaitConnected(ctx); err != nil {
		fmt.Println(err) // it has the answer of every server
		return
	}
	fmt.Println(client.Connection())
	// Output: CONNECTED
}

func ExampleLatch() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	latch, err := client.Latch("/jobs/nightly", incumbent.LatchOptions{ID: "host-a"})
	if err != nil {
		panic(err)
	}
	err = latch.Run(ctx, func(leadership *incumbent.Leadership) error { // called under each term
		fmt.Println("leads:", leadership.Check() == nil)
		// Real work returns when leadership.Context() ends.
		return errors.New("out of disk")
	})
	fmt.Println("the work returned:", err)
	fmt.Println(latch.State())
	// Output:
	// leads: true
	// the work returned: out of disk
	// CLOSED
}

func ExampleLatch_Await() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	latch, err := client.Latch("/jobs/nightly", incumbent.LatchOptions{ID: "host-a"})
	if err != nil {
		panic(err)
	}
	if err := latch.Start(); err != nil {
		panic(err)
	}
	leadership, err := latch.Await(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println("leads:", latch.HasLeadership())
	leadership.Release() // the work is done; the latch goes on leading

	fmt.Println("closed:", latch.Close(ctx))
	fmt.Println("leads:", latch.HasLeadership())
	// Output:
	// leads: true
	// closed: <nil>
	// leads: false
}

func ExampleLatch_AddListener() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	latch, _ := client.Latch("/jobs/nightly", incumbent.LatchOptions{})
	began, over := make(chan struct{}), make(chan struct{})
	latch.AddListener(incumbent.Listener{
		IsLeader:  func(incumbent.Term) { fmt.Println("the term begins"); close(began) },
		NotLeader: func(_ incumbent.Term, why error) { fmt.Println(why); close(over) },
	})
	if err := latch.Start(); err != nil {
		panic(err)
	}
	<-began
	_ = latch.Close(ctx)
	<-over
	// Output:
	// the term begins
	// incumbent: leadership of /jobs/nightly (token 5) ended: closed
}

func ExampleJobElection() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	job, err := client.JobElection("/my-namespace/my-job", incumbent.LatchOptions{ID: "10.0.0.1@-@4711"})
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
	_, err = held.Write(held.Context(), incumbent.CreateNode("/my-namespace/my-job/sharding", nil)) // by the leader, or not at all
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

func ExampleSelector() {
	servers, stop := ensemble()
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	client := open(ctx, servers)
	defer client.Close(context.Background())

	terms := 0
	work := func(leadership *incumbent.Leadership) error {
		terms++
		fmt.Println("term", terms)
		if terms == 2 {
			cancel()                      // two terms are enough
			<-leadership.Context().Done() // real work watches this all the time
		}
		return nil // give leadership up, and queue again at the tail
	}
	selector, err := client.Selector("/jobs/nightly", work, incumbent.SelectorOptions{AutoRequeue: true})
	if err != nil {
		panic(err)
	}
	fmt.Println(selector.Run(ctx))
	// Output:
	// term 1
	// term 2
	// <nil>
}

func ExampleMutex() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	mutex, err := client.Mutex("/locks/report", incumbent.MutexOptions{ID: "host-a"})
	if err != nil {
		panic(err)
	}
	wait, cancel := context.WithTimeout(ctx, time.Minute) // bounds the wait, not the hold
	hold, err := mutex.Lock(wait)
	cancel()
	if err != nil {
		panic(err) // nothing is left behind
	}
	// The work ends with hold.Context(), which ends when the lock is lost.
	fmt.Println("held:", hold.Check() == nil)

	_, held, err := mutex.TryLock(ctx) // one read, and no write: another client has it
	fmt.Println("held twice:", held, err)

	// ErrLeadershipLost would mean that another client may have held the lock meanwhile.
	fmt.Println("unlocked:", hold.Unlock(ctx))
	// Output:
	// held: true
	// held twice: false <nil>
	// unlocked: <nil>
}

func ExampleSemaphore() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	semaphore, err := client.Semaphore("/permits/database", 10, incumbent.SemaphoreOptions{ID: "host-a"})
	if err != nil {
		panic(err)
	}
	hold, err := semaphore.Acquire(ctx, 8) // all of them together, or none
	if err != nil {
		panic(err)
	}
	// The work ends with hold.Context(), which ends when a permit is lost.
	fmt.Println("held:", hold.Check() == nil)

	_, held, err := semaphore.TryAcquire(ctx, 3) // two reads, and no write: there are two left
	fmt.Println("more than there are:", held, err)

	other, err := client.Semaphore("/permits/database", 12, incumbent.SemaphoreOptions{})
	if err != nil {
		panic(err)
	}
	_, err = other.Acquire(ctx, 1)
	fmt.Println("another limit is agreed:", errors.Is(err, incumbent.ErrLimitDiffers))

	fmt.Println("given back:", hold.Unlock(ctx))
	// Output:
	// held: true
	// more than there are: false <nil>
	// another limit is agreed: true
	// given back: <nil>
}

func ExampleHolder() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	mutex, err := client.Mutex("/locks/report", incumbent.MutexOptions{})
	if err != nil {
		panic(err)
	}
	inner := func(holder *incumbent.Holder) {
		hold, err := holder.Lock(ctx) // held already: no request
		if err != nil {
			panic(err)
		}
		fmt.Println("inside:", hold.Check() == nil)
		_ = holder.Unlock(ctx)
	}
	holder := mutex.Holder()
	hold, err := holder.Lock(ctx)
	if err != nil {
		panic(err)
	}
	inner(holder)
	fmt.Println("still held:", hold.Check() == nil)
	_ = holder.Unlock(ctx)
	fmt.Println("still held:", hold.Check() == nil)
	// Output:
	// inside: true
	// still held: true
	// still held: false
}

func ExampleLeadership() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	work := func(leadership *incumbent.Leadership) error {
		// Before any step that cannot be undone: Check reads a clock, and sends no request.
		if err := leadership.Check(); err != nil {
			return err
		}
		// Writes to other stores carry the token; the store refuses a lower one.
		fmt.Println("token is positive:", leadership.Token() > 0)
		// Writes to ZooKeeper are committed only if the own node still exists.
		_, err := leadership.Write(leadership.Context(), incumbent.CreateNode("/jobs/done", []byte("2026-11-21")))
		switch {
		case errors.Is(err, incumbent.ErrOutcomeUnknown): // read before you decide
		case errors.Is(err, incumbent.ErrLeadershipLost): // nothing was written
		}
		return err
	}
	selector, err := client.Selector("/jobs/nightly", work, incumbent.SelectorOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(selector.Run(ctx)) // without AutoRequeue: one term
	// Output:
	// token is positive: true
	// <nil>
}

func ExampleClient_OnConnection() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	states := make(chan incumbent.ConnectionState)
	remove := client.OnConnection(func(state incumbent.ConnectionState) { states <- state })
	defer remove()
	fmt.Println(<-states)
	// Output: CONNECTED
}

func ExampleClient_Line() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	latch, err := client.Latch("/jobs/nightly", incumbent.LatchOptions{ID: "host-a"})
	if err != nil {
		panic(err)
	}
	if err := latch.Start(); err != nil {
		panic(err)
	}
	if leadership, err := latch.Await(ctx); err == nil {
		leadership.Release()
	}
	line, err := client.Line(ctx, "/jobs/nightly")
	if err != nil {
		panic(err)
	}
	for _, p := range line.Participants {
		fmt.Printf("%q is first: %t\n", p.ID, p.First) // an ID is foreign text: quote it
	}
	// Output: "host-a" is first: true
}
