package quartz_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/integrations/quartz"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestSchedule: the expression counts in the job's time zone, and what is wrong with a configuration is an error.
func TestSchedule(t *testing.T) {
	s, err := quartz.Schedule(incumbent.JobConfig{Cron: "0 0 6 * * ?", TimeZone: "GMT-3:30"})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	if got, want := s.Next(at), at.AddDate(0, 0, 1); !got.Equal(want) {
		t.Errorf("it fires at %v, want %v", got, want)
	}
	for want, config := range map[string]incumbent.JobConfig{
		"no cron expression":        {},
		"does not begin with GMT":   {Cron: "0 0 6 * * ?", TimeZone: "Europe/Berlin"},
		"want 0 to 23":              {Cron: "0 0 24 * * ?"},
		"has 5 fields: want 6 or 7": {Cron: "0 6 * * *"},
	} {
		if s, err := quartz.Schedule(config); s != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, %v, want an error with %q", config, s, err, want)
		}
	}
}

// config is a job's, as ElasticJob 3.0.4 writes it.
const config = `cron: 0/1 * * * * ?
failover: true
jobName: job
misfire: true
monitorExecution: true
shardingTotalCount: 2
timeZone: GMT+8:00
`

// TestAJobRunsByItsOwnExpression: the items of a job with one instance run when the job's expression fires.
func TestAJobRunsByItsOwnExpression(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Create("/space/job/config", []byte(config)).Parents().Do(ctx); err != nil {
		t.Fatal(err)
	}
	job, err := client.Job("/space/job", incumbent.JobOptions{Schedule: quartz.Schedule})
	if err != nil {
		t.Fatal(err)
	}
	working, stop := context.WithCancel(ctx)
	ran := make(chan int, 100)
	ended := make(chan error, 1)
	go func() {
		ended <- job.Run(working, func(ctx context.Context, item *incumbent.Item) error {
			ran <- item.Number
			return nil
		})
	}()
	for count := map[int]int{}; count[0] < 2 || count[1] < 2; {
		select {
		case item := <-ran:
			count[item]++
		case <-ctx.Done():
			t.Fatalf("the items ran %v times; the job says %v", count, job.Err())
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
}
