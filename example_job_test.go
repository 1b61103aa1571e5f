package incumbent_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

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
