package program

import (
	"errors"
	"time"

	"github.com/incumbent-go/incumbent"
)

// connect waits for the first connection. If it waits without end, it says why, once a minute.
func (e *elector) connect() error {
	ended, silent := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(silent)
		for wait := time.Second; e.connectTimeout == 0; wait = time.Minute {
			select {
			case <-time.After(wait):
				e.Note("waiting for the ensemble: %v", e.unready())
			case <-ended:
				return
			}
		}
	}()
	err := e.await(e.signals.ctx, e.client)
	close(ended)
	<-silent
	e.connected.Store(err == nil)
	return err
}

// unready returns why the program is not ready: there was no connection yet.
func (e *elector) unready() error {
	if e.connected.Load() {
		return nil
	}
	if err := e.client.Err(); err != nil {
		return trimLibrary(err)
	}
	return errors.New("no server has answered yet")
}

// connectionTrouble says why the client is not connected.
func connectionTrouble(c *incumbent.Client) string {
	if err := c.Err(); err != nil {
		return trimLibrary(err).Error()
	}
	return "the connection was lost" // and there is one again
}

// connectionChanged returns a listener that prints changes of the connection.
func (e *elector) connectionChanged() func(incumbent.ConnectionState) {
	return func(s incumbent.ConnectionState) {
		switch s {
		case incumbent.Suspended:
			e.Note("%s; the session expires %s after the last contact, unless a server answers before",
				connectionTrouble(e.client), e.client.SessionTimeout())
		case incumbent.Reconnected:
			e.Note("connected again")
		case incumbent.Lost:
			e.Note("the session is lost: %s: a new one begins as soon as a server answers", connectionTrouble(e.client))
		}
	}
}
