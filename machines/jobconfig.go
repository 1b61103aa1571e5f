package machines

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// JobConfig is what this library reads of a job's configuration, which ElasticJob writes into the job's
// node config: as YAML since 3.0, as JSON in 2.1.5. A field that is not there has the value
// that it has for ElasticJob: zero, for MaxTimeDiffSeconds -1.
type JobConfig struct {
	Legacy                   bool   `json:"-"` // it is JSON: the job's instances are 2.1.5's
	Name                     string `json:"jobName"`
	Cron                     string `json:"cron"`               // in Quartz's dialect
	TimeZone                 string `json:"timeZone"`           // as in "GMT+8:00"; empty: the instance's own
	Total                    int    `json:"shardingTotalCount"` // of items, which are numbered from 0
	ItemParameters           string `json:"shardingItemParameters"`
	Parameter                string `json:"jobParameter"`
	MonitorExecution         bool   `json:"monitorExecution"` // an item that runs has a node that says so
	Failover                 bool   `json:"failover"`         // others run the items of an instance that has died
	Misfire                  bool   `json:"misfire"`          // an item that was to run while it ran runs again
	MaxTimeDiffSeconds       int    `json:"maxTimeDiffSeconds"`
	ReconcileIntervalMinutes int    `json:"reconcileIntervalMinutes"`
	Strategy                 string `json:"jobShardingStrategyType"`
	LegacyStrategy           string `json:"jobShardingStrategyClass"` // 2.1.5's; ParseJobConfig moves it to Strategy
	Disabled                 bool   `json:"disabled"`                 // the job begins disabled on a server that is new
	StaticSharding           bool   `json:"staticSharding"`           // owners stay when instances come and go
}

// MaxJobItems is the highest number of items of a job: all of them are dealt in one transaction, which a server takes
// up to 1 MiB. It has at most 2 kB an item while the path of the job has up to 180 bytes.
const MaxJobItems = 500

// ParseJobConfig reads a job's configuration. It reads what ElasticJob writes, and YAML that a person has
// changed as long as a known field has a plain, quoted or block value. Fields that it does not know are
// ignored. An error names the line or field, and what would be right.
func ParseJobConfig(data []byte) (JobConfig, error) {
	var c JobConfig
	text := strings.TrimSpace(string(data))
	switch {
	case text == "":
		return JobConfig{}, errors.New("the configuration is empty: want ElasticJob's YAML or JSON")
	case text[0] == '{':
		c.Legacy = true
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			return JobConfig{}, fmt.Errorf("the configuration is not ElasticJob 2.1.5's JSON: %w", err)
		}
		c.Strategy, c.LegacyStrategy = c.LegacyStrategy, ""
	default:
		c.MaxTimeDiffSeconds = -1
		if err := c.readYAML(string(data)); err != nil {
			return JobConfig{}, err
		}
	}
	switch {
	case c.Name == "":
		return JobConfig{}, errors.New("jobName is empty: want the job's name")
	case c.Total < 1 || c.Total > MaxJobItems:
		return JobConfig{}, fmt.Errorf("shardingTotalCount is %d: want 1 to %d", c.Total, MaxJobItems)
	}
	return c, nil
}

// noJobConfig says that a job has no configuration.
const noJobConfig = "there is none yet"

// parseJobConfigFor is ParseJobConfig, and refuses a job of 2.1.5 for an instance whose id has no address: such a node
// ends every instance in Java.
func parseJobConfigFor(id string, data []byte) (JobConfig, error) {
	c, err := ParseJobConfig(data)
	if ip, _, has := strings.Cut(id, "@-@"); err == nil && c.Legacy && (!has || ip == "") {
		return JobConfig{}, fmt.Errorf("the instance's id %q has no address, which a job of ElasticJob 2.1.5 needs: "+
			"want one as in %q", id, "192.0.2.7@-@4711")
	}
	return c, err
}

// readYAML sets the fields from a YAML mapping.
func (c *JobConfig) readYAML(text string) error {
	fields, err := yamlFields(text)
	if err != nil {
		return err
	}
	for _, f := range fields {
		if err := c.set(f); err != nil {
			return fmt.Errorf("line %d: %s: %w", f.line, f.key, err)
		}
	}
	return nil
}

// set sets the field that a line of YAML is about, if it is one that this library reads.
func (c *JobConfig) set(f yamlField) error {
	text, number, flag := c.fields(f.key)
	if text == nil && number == nil && flag == nil {
		return nil
	}
	value, err := f.scalar()
	switch {
	case err != nil:
		return err
	case text != nil:
		*text = value
	case number != nil:
		*number, err = yamlNumber(value)
	default:
		*flag, err = yamlFlag(value)
	}
	return err
}

// fields returns where the value of a field of ElasticJob's belongs: one of three, or none if the field is unknown.
func (c *JobConfig) fields(key string) (text *string, number *int, flag *bool) {
	switch key {
	case "jobName":
		text = &c.Name
	case "cron":
		text = &c.Cron
	case "timeZone":
		text = &c.TimeZone
	case "shardingItemParameters":
		text = &c.ItemParameters
	case "jobParameter":
		text = &c.Parameter
	case "jobShardingStrategyType":
		text = &c.Strategy
	case "shardingTotalCount":
		number = &c.Total
	case "maxTimeDiffSeconds":
		number = &c.MaxTimeDiffSeconds
	case "reconcileIntervalMinutes":
		number = &c.ReconcileIntervalMinutes
	case "monitorExecution":
		flag = &c.MonitorExecution
	case "failover":
		flag = &c.Failover
	case "misfire":
		flag = &c.Misfire
	case "disabled":
		flag = &c.Disabled
	case "staticSharding":
		flag = &c.StaticSharding
	}
	return text, number, flag
}

// yamlNumber reads a decimal number. YAML takes one that begins with a zero for octal.
func yamlNumber(value string) (int, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || strconv.FormatInt(n, 10) != value {
		return 0, fmt.Errorf("%q is not a decimal number, as in 3", value)
	}
	return int(n), nil
}

// yamlFlag reads a boolean: one of YAML 1.1.
func yamlFlag(value string) (bool, error) {
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", value)
}
