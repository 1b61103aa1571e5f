package discovery_test

import (
	"context"
	"fmt"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/discovery"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func Example() {
	srv := zkmem.New(zkmem.Options{})
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	ctx := context.Background()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		panic(err)
	}
	defer client.Close(ctx)
	services, err := discovery.New(client, "/discovery")
	if err != nil {
		panic(err)
	}
	defer services.Close(ctx)

	// The side that serves.
	payload, err := discovery.ClassPayload("com.example.Zone", map[string]string{"zone": "eu-1"})
	if err != nil {
		panic(err)
	}
	own, err := services.Register(discovery.Instance{
		Service: "orders", ID: "orders-1", Address: "10.0.0.7", Port: 8080, Payload: payload,
	})
	if err != nil {
		panic(err)
	}
	if err := own.WaitPresent(ctx); err != nil {
		panic(err)
	}

	// The side that calls.
	orders, err := services.Cache("orders", discovery.CacheOptions{})
	if err != nil {
		panic(err)
	}
	if err := orders.WaitReady(ctx); err != nil {
		panic(err)
	}
	provider, err := orders.Provider(discovery.ProviderOptions{Strategy: discovery.Sticky(discovery.Random(nil))})
	if err != nil {
		panic(err)
	}
	found, err := provider.Pick()
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s:%d %s\n", found.Address, found.Port, found.Payload)
	provider.NoteError(found) // the call failed
	provider.NoteError(found) // twice: the instance is down for 30 s
	_, err = provider.Pick()
	fmt.Println(err)
	// Output:
	// 10.0.0.7:8080 {"@class":"com.example.Zone","zone":"eu-1"}
	// discovery: no instance of service "orders": 1 are known, 0 of them are disabled, 1 down, 0 filtered out
}
