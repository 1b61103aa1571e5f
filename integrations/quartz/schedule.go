package quartz

import (
	"errors"

	"github.com/incumbent-go/incumbent"
)

// Schedule is for JobOptions.Schedule: an instance's items run when the job's own cron expression fires, as they do
// in Java. It is called again when the configuration changes. An error says that the expression, or the time zone,
// cannot be read, or that the configuration has no expression. It is in Job.Err until the configuration changes.
//
// Without a time zone in the configuration, ElasticJob takes the zone of its process, and Schedule takes
// time.Local: all instances need the same one.
func Schedule(config incumbent.JobConfig) (incumbent.JobSchedule, error) {
	if config.Cron == "" {
		return nil, errors.New("quartz: the job's configuration has no cron expression: want one")
	}
	zone, err := Zone(config.TimeZone)
	if err != nil {
		return nil, err
	}
	cron, err := Parse(config.Cron, zone)
	if err != nil {
		return nil, err // not as a *Cron that is nil
	}
	return cron, nil
}
