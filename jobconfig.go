package incumbent

import (
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// JobConfig is the configuration of an ElasticJob job, as its node has it. The names of ElasticJob's fields are in
// parentheses.
type JobConfig struct {
	Name             string         // (jobName)
	Cron             string         // (cron) in Quartz's dialect
	TimeZone         string         // (timeZone) of Cron, as in "GMT+8:00"; empty: the instance's own
	Total            int            // (shardingTotalCount) how many items there are; they are numbered from 0
	ItemParameters   map[int]string // (shardingItemParameters) by the item's number; an item may have none
	Parameter        string         // (jobParameter) of the job
	MonitorExecution bool           // (monitorExecution) an item that runs has a node that says so
	Failover         bool           // (failover) other instances run the items of one that has died
	Misfire          bool           // (misfire) items that were to run while they ran run once more
	Strategy         string         // (jobShardingStrategyType) how the leader deals; empty: average allocation
	Disabled         bool           // (disabled) the job begins disabled on a server that is new
}

// parseJobConfig reads what a job's config node has.
func parseJobConfig(path string, data []byte) (JobConfig, error) {
	c, err := machines.ParseJobConfig(data)
	if err != nil {
		return JobConfig{}, asError(events.JobConfig, fault.Path(machines.JobConfigNode(path))+": "+err.Error())
	}
	return JobConfig{
		Name: c.Name, Cron: c.Cron, TimeZone: c.TimeZone, Total: c.Total,
		ItemParameters: itemParameters(c.ItemParameters), Parameter: c.Parameter,
		MonitorExecution: c.MonitorExecution, Failover: c.Failover, Misfire: c.Misfire, Strategy: c.Strategy,
		Disabled: c.Disabled,
	}, nil
}

// itemParameters reads ElasticJob's form, as in "0=Berlin,1=Paris". It passes over what is not in that form.
func itemParameters(text string) map[int]string {
	all := map[int]string{}
	for one := range strings.SplitSeq(text, ",") {
		item, parameter, ok := strings.Cut(one, "=")
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if ok && err == nil {
			all[n] = strings.TrimSpace(parameter)
		}
	}
	return all
}

// JobSchedule says when a job's items run. It is called from one goroutine at a time.
type JobSchedule interface {
	// Next returns the first tick after an instant, and the zero time if there is none.
	Next(after time.Time) time.Time
}

// Every returns a schedule with a tick at each multiple of d in UTC, as time.Truncate has them, so all instances with
// the same d have the same ticks. It panics if d is not above zero.
func Every(d time.Duration) JobSchedule {
	if d <= 0 {
		misuse("needs a duration above zero")
	}
	return every(d)
}

type every time.Duration

// Next returns the first multiple after an instant.
func (e every) Next(after time.Time) time.Time {
	d := time.Duration(e)
	return after.Round(0).Truncate(d).Add(d)
}
