package incumbent_test

import (
	"context"
	"fmt"

	"github.com/incumbent-go/incumbent"
)

func ExampleAtomicLong() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	visits, err := client.AtomicLong("/stats/visits", incumbent.AtomicLongOptions{Lock: "/stats/visits-lock"})
	if err != nil {
		panic(err)
	}
	for range 3 {
		if _, err := visits.Add(ctx, 2); err != nil {
			panic(err) // ErrOutcomeUnknown: it may have been added
		}
	}
	fmt.Println(visits.Get(ctx))
	fmt.Println(visits.CompareAndSet(ctx, 5, 0))
	// Output:
	// 6 <nil>
	// 6 false <nil>
}

func ExampleSharedCount() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	limit, err := client.SharedCount("/config/limit", 10) // 10 if there is none yet
	if err != nil {
		panic(err)
	}
	was, err := limit.Get(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(limit.TrySet(ctx, was, 20))
	fmt.Println(limit.TrySet(ctx, was, 30)) // it was written in between
	for count, err := range limit.Watch(ctx) {
		fmt.Println(count.Value, err)
		break
	}
	// Output:
	// {20 1} true <nil>
	// {20 1} false <nil>
	// 20 <nil>
}
