package systems

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent"
)

// elector is a participant in Go of the election of Hadoop's failover controllers. What it does in each term is
// Hadoop's fencing: the node crumb has the data of the one that was active last, and has not quit in order.
type elector struct {
	client *incumbent.Client
	lock   *incumbent.NodeElection
	crumb  string
	name   string
}

// electorProgram is an elector with the arguments servers, parent of the lock, name and session timeout in
// milliseconds. It says what Hadoop.java says.
func electorProgram(arguments []string) (commands, error) {
	timeout, err := strconv.Atoi(arguments[3])
	if err != nil {
		return nil, err
	}
	client, err := incumbent.Open(context.Background(), incumbent.Config{
		Servers: arguments[0], SessionTimeout: time.Duration(timeout) * time.Millisecond, Tick: tick,
	})
	if err != nil {
		return nil, err
	}
	e := &elector{client: client, crumb: arguments[1] + "/ActiveBreadCrumb", name: arguments[2]}
	e.lock, err = client.NodeElection(arguments[1]+"/ActiveStandbyElectorLock",
		incumbent.NodeElectionOptions{Data: []byte(e.name)})
	return commands{"join": e.join}, err
}

// join stands for election until the process ends.
func (e *elector) join() string {
	go func() { say("closed %v", e.lock.Run(context.Background(), e.active)) }()
	holder, there, err := e.lock.Holder(context.Background())
	if there && holder.ID != e.name {
		say("standby")
	}
	return fmt.Sprint(err)
}

// active fences the one that was active before, and then is active for the rest of the term.
func (e *elector) active(l *incumbent.Leadership) error {
	if err := e.fence(l.Context()); err != nil {
		return err
	}
	say("active")
	<-l.Context().Done()
	say("neutral")
	return nil
}

// fence says which one it fences, and leaves its own name.
func (e *elector) fence(ctx context.Context) error {
	last, err := e.client.Get(e.crumb).Do(ctx)
	if errors.Is(err, incumbent.ErrNoNode) {
		_, err = e.client.Create(e.crumb, []byte(e.name)).Do(ctx)
		return err
	}
	if err != nil || string(last.Data) == e.name {
		return err
	}
	say("fence %s", last.Data)
	_, err = e.client.Set(e.crumb, []byte(e.name)).Version(last.Stat.Version).Do(ctx)
	return err
}
