package incumbent

import (
	"context"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// JobItem is what is known of one item of a job.
type JobItem struct {
	Number    int
	Instance  string // the id of the instance that it is dealt to; empty: it is not dealt
	Alive     bool   // that instance's node exists
	Running   bool   // a node says that it runs
	Disabled  bool   // an operator has disabled it
	Misfire   bool   // it was to run while it ran, and will run once more
	TakenOver string // the id of the instance that runs it once, because its own has died; empty: none does
	TakeOver  bool   // it is offered to be taken over
	Parameter string // from JobConfig.ItemParameters
}

// Items reads who has which item of the job, as the server that the client is connected to knows, one node after the
// other: items that are dealt meanwhile may be seen before or after that. Errors: those of Config.
func (j *Job) Items(ctx context.Context) ([]JobItem, error) {
	config, err := j.Config(ctx)
	if err != nil {
		return nil, err
	}
	instances, err := j.names(ctx, machines.JobInstances(j.path))
	if err != nil {
		return nil, err
	}
	offers, err := j.names(ctx, machines.JobOffers(j.path))
	if err != nil {
		return nil, err
	}
	items := make([]JobItem, config.Total)
	for n := range items {
		if items[n], err = j.item(ctx, n); err != nil {
			return nil, err
		}
		items[n].Parameter = config.ItemParameters[n]
		items[n].Alive = slices.Contains(instances, items[n].Instance)
		items[n].TakeOver = slices.Contains(offers, machines.JobItemName(n))
	}
	return items, nil
}

// item reads one item.
func (j *Job) item(ctx context.Context, n int) (JobItem, error) {
	item := JobItem{Number: n}
	leaves, err := j.names(ctx, machines.JobItem(j.path, n, ""))
	if err != nil {
		return item, err
	}
	item.Running = slices.Contains(leaves, machines.ItemRunning)
	item.Disabled = slices.Contains(leaves, machines.ItemDisabled)
	item.Misfire = slices.Contains(leaves, machines.ItemMisfire)
	for leaf, id := range map[string]*string{machines.ItemInstance: &item.Instance,
		machines.ItemFailover: &item.TakenOver} {
		if !slices.Contains(leaves, leaf) {
			continue
		}
		data, _, err := j.client.read(ctx, machines.JobItem(j.path, n, leaf))
		if err := present(err); err != nil {
			return item, err
		}
		*id = string(data)
	}
	return item, nil
}

// names lists a node's children; none if the node does not exist.
func (j *Job) names(ctx context.Context, path string) ([]string, error) {
	names, err := j.client.list(ctx, path)
	return names, present(err)
}

// present returns an error of a read as users see it, nil if it only says that the node does not exist.
func present(err error) error {
	refused := refusal(err)
	switch {
	case refused == nil:
		return err
	case refused.Code == events.NoNode:
		return nil
	}
	return refused
}
