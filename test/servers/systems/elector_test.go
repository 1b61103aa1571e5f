package systems

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent"
)

// elector is a participant in Go of the election of Hadoop's failover controllers, on the same lock and crumb.
type elector struct {
	lock *incumbent.NodeElection
	name string
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
	e := &elector{name: arguments[2]}
	e.lock, err = client.NodeElection(arguments[1]+"/ActiveStandbyElectorLock", incumbent.NodeElectionOptions{
		Data: []byte(e.name), Crumb: "ActiveBreadCrumb", Epoch: "epoch", Fence: fence})
	return commands{"join": e.join, "quit": e.quit}, err
}

// join stands for election.
func (e *elector) join() string {
	go func() { say("closed %v", e.lock.Run(context.Background(), active)) }()
	holder, there, err := e.lock.Holder(context.Background())
	if there && holder.ID != e.name {
		say("standby")
	}
	return fmt.Sprint(err)
}

// quit gives the lock up in order.
func (e *elector) quit() string { return fmt.Sprint(e.lock.Close(context.Background())) }

// active is active for the rest of the term, and writes under it.
func active(l *incumbent.Leadership) error {
	if _, err := l.Write(l.Context(), incumbent.CheckVersion("/", incumbent.AnyVersion)); err != nil {
		say("write %v", err)
		return err
	}
	say("active")
	<-l.Context().Done()
	say("neutral")
	return nil
}

// fence says which one it fences.
func fence(_ context.Context, last []byte) error {
	say("fence %s", last)
	return nil
}
