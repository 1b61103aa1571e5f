package incumbent_test

import (
	"context"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent"
)

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
