package incumbent_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent"
)

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

func ExampleReadWriteLock() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	lock, err := client.ReadWriteLock("/locks/catalogue", incumbent.MutexOptions{ID: "host-a"})
	if err != nil {
		panic(err)
	}
	write, err := lock.Lock(ctx) // waits for all before it
	if err != nil {
		panic(err)
	}
	_, held, err := lock.TryRLock(ctx)
	fmt.Println("read while it is written:", held, err)

	// The work ends with write.Context(). Then it may go on reading, at the same place in
	// line: no other writer comes before it.
	read, err := write.Downgrade(ctx)
	if err != nil {
		panic(err) // nothing is held any longer
	}
	second, err := lock.RLock(ctx) // waits for writers only
	if err != nil {
		panic(err)
	}
	fmt.Println("two read:", read.Check() == nil, second.Check() == nil)
	fmt.Println("unlocked:", second.Unlock(ctx), read.Unlock(ctx))
	// Output:
	// read while it is written: false <nil>
	// two read: true true
	// unlocked: <nil> <nil>
}

func ExampleReadWriteHolder() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	lock, err := client.ReadWriteLock("/locks/catalogue", incumbent.MutexOptions{})
	if err != nil {
		panic(err)
	}
	holder := lock.Holder() // pass it down: a function that has it may lock
	_, err = holder.RLock(ctx)
	fmt.Println("read:", err)
	_, err = holder.Lock(ctx) // would wait for its own reading to end
	fmt.Println("write:", err != nil)
	fmt.Println("unlocked:", holder.RUnlock(ctx))
	// Output:
	// read: <nil>
	// write: true
	// unlocked: <nil>
}

func ExampleMultiLock() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	from, err := client.Mutex("/locks/account-7", incumbent.MutexOptions{})
	if err != nil {
		panic(err)
	}
	rates, err := client.ReadWriteLock("/locks/rates", incumbent.MutexOptions{})
	if err != nil {
		panic(err)
	}
	both, err := incumbent.NewMultiLock(rates.Reader(), from) // in any order
	if err != nil {
		panic(err)
	}
	wait, cancel := context.WithTimeout(ctx, time.Minute) // for all of them together
	hold, err := both.Lock(wait)
	cancel()
	if err != nil {
		panic(err) // it says which lock, and nothing is held
	}
	// The work ends with hold.Context(), which ends when one of them is lost.
	fmt.Println("held:", len(hold.Holds()), hold.Check() == nil)
	fmt.Println("unlocked:", hold.Unlock(ctx))
	// Output:
	// held: 2 true
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

func ExampleBarrier() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	barrier, err := client.Barrier("/jobs/migration")
	if err != nil {
		panic(err)
	}
	if err := barrier.Set(ctx); err != nil { // from here on all callers wait
		panic(err)
	}
	done := make(chan error)
	go func() { done <- barrier.Wait(ctx) }()
	fmt.Println("removed:", barrier.Remove(ctx))
	fmt.Println("through:", <-done)
	// Output:
	// removed: <nil>
	// through: <nil>
}

func ExampleGate() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	gate, err := client.Gate("/jobs/schema-is-there") // shut until it is opened
	if err != nil {
		panic(err)
	}
	done := make(chan error)
	go func() { done <- gate.Wait(ctx) }()
	fmt.Println("opened:", gate.Open(ctx))
	fmt.Println("through:", <-done)
	// Output:
	// opened: <nil>
	// through: <nil>
}

func ExampleDoubleBarrier() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	const workers = 3
	done := make(chan error)
	for range workers {
		go func() {
			member, err := client.DoubleBarrier("/jobs/simulation", workers, incumbent.DoubleBarrierOptions{})
			if err != nil {
				done <- err
				return
			}
			if err := member.Enter(ctx); err != nil { // all begin together
				done <- err
				return
			}
			// the work
			done <- member.Leave(ctx) // all end together
		}()
	}
	for range workers {
		fmt.Println(<-done)
	}
	// Output:
	// <nil>
	// <nil>
	// <nil>
}

func ExampleNodeElection() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	controller, err := client.NodeElection("/cluster/controller", incumbent.NodeElectionOptions{
		Data: []byte(`{"brokerid":1}`), // what other programs of this election expect there
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = controller.Run(ctx, func(l *incumbent.Leadership) error {
		holder, _, err := controller.Holder(l.Context())
		fmt.Println(holder.Path, holder.ID, holder.Token == l.Token())
		return err
	})
	fmt.Println(err)
	_, there, _ := controller.Holder(ctx)
	fmt.Println("held:", there)
	// Output:
	// /cluster/controller {"brokerid":1} true
	// <nil>
	// held: false
}
