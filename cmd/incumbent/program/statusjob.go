package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// jobState is what the nodes of an ElasticJob job say.
type jobState struct {
	leader     incumbent.Line // with the marker, if there is one
	necessary  bool           // the items have to be dealt
	processing bool           // a leader in Java deals
	items      []incumbent.JobItem
	trouble    error // why the items are not known
	instances  []string
	servers    []jobServer
}

// jobServer is a host of a job, for --json.
type jobServer struct {
	Address  string `json:"address"`
	Disabled bool   `json:"disabled"`
}

// jobItem is an item of a job, for --json.
type jobItem struct {
	Item      int    `json:"item"`
	Instance  string `json:"instance"` // "": it is not dealt
	Alive     bool   `json:"alive"`
	Running   bool   `json:"running"`
	Disabled  bool   `json:"disabled"`
	Misfire   bool   `json:"misfire"`
	Failover  string `json:"failover,omitempty"` // the instance that has taken it over
	Offered   bool   `json:"offered"`            // it is to be taken over
	Parameter string `json:"parameter,omitempty"`
}

// job reads a directory as a job's. It returns nil if it is none: if it has neither a job's configuration nor a marker.
func (a *app) job(ctx context.Context, client *incumbent.Client, dir string) (*jobState, error) {
	job, err := client.Job(dir, incumbent.JobOptions{Mode: incumbent.JobWatches})
	if err != nil {
		return nil, nil // a path that no job may have
	}
	leader, _, err := job.First(ctx)
	if refused := (*incumbent.Error)(nil); errors.As(err, &refused) && !refused.Code.Transient() {
		leader = incumbent.Participant{Recipe: machines.JobElectionRecipe.Name(), Path: machines.JobMarker(dir),
			Err: err}
	} else if err != nil {
		return nil, err
	}
	s := &jobState{}
	if leader.Path != "" {
		s.leader.Participants = []incumbent.Participant{leader}
	}
	children, err := client.Children(dir).Do(ctx)
	if err != nil {
		return nil, err
	}
	if leader.Path == "" && !machines.IsJob(children) {
		return nil, nil
	}
	return s, s.read(ctx, client, job)
}

// read reads what belongs to the job besides its leader.
func (s *jobState) read(ctx context.Context, client *incumbent.Client, job *incumbent.Job) (err error) {
	dir := job.Path()
	if s.items, err = job.Items(ctx); err != nil {
		if refused := (*incumbent.Error)(nil); !errors.As(err, &refused) || refused.Code.Transient() {
			return err
		}
		s.trouble = err
	}
	if s.instances, err = childNames(ctx, client, machines.JobInstances(dir)); err != nil {
		return err
	}
	if s.necessary, err = exists(ctx, client, machines.JobNecessary(dir)); err != nil {
		return err
	}
	if s.processing, err = exists(ctx, client, machines.JobProcessing(dir)); err != nil {
		return err
	}
	servers, err := childNames(ctx, client, machines.JobServers(dir))
	if err != nil {
		return err
	}
	for _, address := range servers {
		node, err := client.Get(machines.JobServer(dir, address)).Do(ctx)
		if err != nil && !errors.Is(err, incumbent.ErrNoNode) {
			return err
		}
		s.servers = append(s.servers, jobServer{cut(address), string(node.Data) == machines.ServerDisabled})
	}
	return nil
}

// childNames lists a node's children; none if it does not exist.
func childNames(ctx context.Context, client *incumbent.Client, path string) ([]string, error) {
	all, err := client.Children(path).Do(ctx)
	if errors.Is(err, incumbent.ErrNoNode) {
		return nil, nil
	}
	return all, err
}

func exists(ctx context.Context, client *incumbent.Client, path string) (bool, error) {
	stat, err := client.Exists(path).Do(ctx)
	return stat != nil, err
}

// object returns the job's state for --json.
func (s *jobState) object(dir string) any {
	items := []jobItem{}
	for _, i := range s.items {
		items = append(items, jobItem{i.Number, cut(i.Instance), i.Alive, i.Running, i.Disabled, i.Misfire,
			cut(i.TakenOver), i.TakeOver, cut(i.Parameter)})
	}
	instances := []string{}
	for _, id := range s.instances {
		instances = append(instances, cut(id))
	}
	line := lineObject(dir, s.leader)
	line.Job = &jobObject{Necessary: s.necessary, Processing: s.processing, Items: items, Instances: instances,
		Servers: append([]jobServer{}, s.servers...)}
	if s.trouble != nil {
		line.Job.Error = events.Foreign(trimLibrary(s.trouble).Error(), events.MaxText)
	}
	return line
}

// jobObject is what --json adds for a job.
type jobObject struct {
	Necessary  bool        `json:"necessary"`
	Processing bool        `json:"processing"`
	Items      []jobItem   `json:"items"`
	Instances  []string    `json:"instances"`
	Servers    []jobServer `json:"servers"`
	Error      string      `json:"error,omitempty"` // why the items are not known
}

// show prints the job's state.
func (s *jobState) show(a *app, dir string) {
	a.Out.Line("%s: an ElasticJob job, %s", events.Foreign(dir, events.MaxText), s.head(a.Out.Bold))
	if s.trouble != nil {
		a.Out.Line("  its items are not known: %s", events.Foreign(trimLibrary(s.trouble).Error(), events.MaxText))
	}
	if s.necessary {
		a.Out.Line("  the items have to be dealt (leader/sharding/necessary): no instance runs its items before that")
	}
	if s.processing {
		a.Out.Line("  a leader in Java deals, or did (leader/sharding/processing)")
	}
	if len(s.items) > 0 {
		rows := [][]string{{"ITEM", "INSTANCE", ""}}
		for _, i := range s.items {
			rows = append(rows,
				[]string{strconv.Itoa(i.Number), instanceName(i.Instance), strings.Join(marks(i), ", ")})
		}
		a.Out.Table(rows)
	}
	var idle []string
	for _, id := range s.instances {
		if !slices.ContainsFunc(s.items, func(i incumbent.JobItem) bool { return i.Instance == id }) {
			idle = append(idle, instanceName(id))
		}
	}
	if len(idle) > 0 {
		a.Out.Line("  %s without an item: %s", cli.Plural(len(idle), "instance"), strings.Join(idle, ", "))
	}
	for _, server := range s.servers {
		if server.Disabled {
			a.Out.Line("  server %s is DISABLED: no instance there leads, or has items",
				events.Foreign(server.Address, events.MaxName))
		}
	}
}

// head says who leads the job.
func (s *jobState) head(bold func(string) string) string {
	text := "led by nobody"
	if len(s.leader.Participants) > 0 {
		switch p := s.leader.Participants[0]; {
		case p.Err != nil:
			text = "its leader cannot be read: " + events.Foreign(trimLibrary(p.Err).Error(), events.MaxText)
		case p.Persistent():
			text = blockedBy(p)
		default:
			text = fmt.Sprintf("led by %s with token %s, session %s", bold(name(p)), token(p), hex(p.Owner))
		}
	}
	items := ""
	if s.trouble == nil {
		items = ": " + cli.Plural(len(s.items), "item")
	}
	return text + items + ", " + cli.Plural(len(s.instances), "instance")
}

// instanceName returns an instance's id as it is shown, "-" for none.
func instanceName(id string) string {
	if id == "" {
		return "-"
	}
	return events.Quote(id, events.MaxName)
}

// marks returns what an item's nodes say of it.
func marks(i incumbent.JobItem) (all []string) {
	add := func(is bool, mark string) {
		if is {
			all = append(all, mark)
		}
	}
	add(i.Instance == "", "not dealt")
	add(i.Instance != "" && !i.Alive, "its instance is gone")
	add(i.Running, "running")
	add(i.Disabled, "DISABLED")
	add(i.Misfire, "misfire: runs once more")
	add(i.TakenOver != "", "failover: taken over by "+instanceName(i.TakenOver))
	add(i.TakeOver, "failover: to be taken over")
	return all
}
