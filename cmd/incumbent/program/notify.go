package program

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

// notifier tells systemd how the service is: see sd_notify(3). The nil notifier tells nobody.
type notifier struct {
	conn     net.Conn
	messages chan string   // for one goroutine that writes them: systemd that does not read holds nobody up
	written  chan struct{} // closed when that goroutine has ended
	end      chan struct{}
	over     chan struct{}
	lost     atomic.Uint64 // messages that systemd did not read in time
}

// maxMessages is how many messages wait for systemd, and maxUnread how long one waits to be read.
const (
	maxMessages = 64
	maxUnread   = time.Second
)

// notifySystemd begins what --notify asks for, until stop is called.
func (e *elector) notifySystemd() (stop func(), err error) {
	if !e.notify {
		return func() {}, nil
	}
	e.notifier, err = newNotifier(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return e.client.Probe(ctx) == nil
	})
	if err != nil {
		return nil, err
	}
	remove := e.client.OnConnection(e.notifier.connection)
	return func() {
		remove()
		e.notifier.stop()
		if n := e.notifier.lost.Load(); n > 0 {
			e.Note("systemd did not read %s in time", cli.Plural(n, "message"))
		}
	}, nil
}

// newNotifier connects to the socket that systemd names in NOTIFY_SOCKET, and sends WATCHDOG=1 twice in each
// WATCHDOG_USEC, if that is set, as long as alive returns true.
func newNotifier(alive func() bool) (*notifier, error) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil,
			cli.Usage("--notify needs a service of systemd with Type=notify and NotifyAccess=main: " +
				"NOTIFY_SOCKET is not set")
	}
	if path[0] == '@' {
		path = "\x00" + path[1:] // an abstract socket
	}
	conn, err := net.Dial("unixgram", path)
	if err != nil {
		return nil, cli.Exit(cli.ExitFailed, fmt.Errorf("--notify: %w", err))
	}
	n := &notifier{conn: conn, messages: make(chan string, maxMessages), written: make(chan struct{}),
		end: make(chan struct{}), over: make(chan struct{})}
	every, err := watchdogInterval(os.Getenv("WATCHDOG_USEC"))
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		_ = os.Unsetenv(name) // they are for this process, not for the command
	}
	go n.write()
	go n.watchdog(every, alive)
	return n, nil
}

// watchdogInterval returns how often systemd wants a message, 0 for never: half of what it waits, and once a
// millisecond at most.
func watchdogInterval(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	usec, err := strconv.ParseUint(text, 10, 64)
	if err != nil || usec > math.MaxInt64/1000 {
		return 0, cli.Usage("--notify: WATCHDOG_USEC is %s: want the microseconds that systemd waits for a message",
			events.Quote(text, events.MaxName))
	}
	if usec == 0 {
		return 0, nil
	}
	return max(time.Duration(usec)*time.Microsecond/2, time.Millisecond), nil
}

func (n *notifier) watchdog(every time.Duration, alive func() bool) {
	defer close(n.over)
	if every <= 0 {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if alive() {
			n.send("WATCHDOG=1")
		}
		select {
		case <-tick.C:
		case <-n.end:
			return
		}
	}
}

// send has a message sent. Systemd that does not read it loses it: the service goes on.
func (n *notifier) send(message string) {
	if n == nil {
		return
	}
	select {
	case n.messages <- message:
	default:
		n.lost.Add(1)
	}
}

// write writes the messages. After stop was called it writes those that are left, within maxUnread.
func (n *notifier) write() {
	defer close(n.written)
	for {
		select {
		case message := <-n.messages:
			n.writeBy(time.Now().Add(maxUnread), message)
		case <-n.over:
			for limit := time.Now().Add(maxUnread); len(n.messages) > 0; {
				n.writeBy(limit, <-n.messages)
			}
			return
		}
	}
}

func (n *notifier) writeBy(limit time.Time, message string) {
	_ = n.conn.SetWriteDeadline(limit)
	if _, err := n.conn.Write([]byte(message)); err != nil {
		n.lost.Add(1)
	}
}

// connection tells systemd of a new state of the connection. The service is ready when it is connected first.
func (n *notifier) connection(s incumbent.ConnectionState) {
	switch s {
	case incumbent.Connected:
		n.send("READY=1\nSTATUS=connected, in line")
	case incumbent.Reconnected:
		n.send("STATUS=connected again")
	default:
		n.send("STATUS=no connection: " + string(s))
	}
}

func (n *notifier) stop() {
	if n != nil {
		n.send("STOPPING=1")
		close(n.end)
		<-n.written // and so over is closed
		_ = n.conn.Close()
	}
}
