// Package agent is a client of the library that obeys commands: one line of input is one command. It is compiled with
// two versions of the library, so it uses only what both have, and nothing of this repository but the root package.
//
// A command is "NUMBER VERB NAME ARGUMENTS…". Its answer is "NUMBER ok WORDS…" or "NUMBER error TEXT". Commands run
// at the same time, and an answer comes when the call has returned. In between, the agent writes:
//
//	ready                          it is connected
//	leading NAME TOKEN             a term has begun
//	stopped NAME                   its work has ended
//	took NAME ITEM TRY             a consumer got an item
//	belief NAME leads|holds|stops T   see beliefs.ask
//
// The end of the input closes the client.
package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
)

// Orders are what an agent is started with, in this order: its words are the program's arguments.
type Orders struct {
	Servers string
	Timeout time.Duration // of the session
	Tick    time.Duration // of the server
}

// Words returns the program's arguments.
func (o Orders) Words() []string { return []string{o.Servers, o.Timeout.String(), o.Tick.String()} }

// Parse returns the orders of a program's arguments.
func Parse(words []string) (o Orders, err error) {
	if len(words) != 3 {
		return o, fmt.Errorf("%d arguments, want SERVERS TIMEOUT TICK", len(words))
	}
	o.Servers = words[0]
	if o.Timeout, err = time.ParseDuration(words[1]); err == nil {
		o.Tick, err = time.ParseDuration(words[2])
	}
	return o, err
}

// Main runs an agent on standard input and output.
func Main(words []string) error {
	o, err := Parse(words)
	if err != nil {
		return err
	}
	return Run(o, os.Stdin, os.Stdout)
}

// retry is every handle's: what fails is tried again soon.
var retry = incumbent.RetryForever(20 * time.Millisecond)

// closeWithin bounds the end of a client whose server does not answer.
const closeWithin = 20 * time.Second

// agent is one client and its handles, which commands know by name.
type agent struct {
	client  *incumbent.Client
	beliefs beliefs
	verbs   map[string]verb

	outMu sync.Mutex
	out   io.Writer

	mu       sync.Mutex
	closers  map[string]func(context.Context) error // leave
	resigns  map[string]func(context.Context) error // resign
	lines    map[string]func(context.Context) ([]incumbent.Participant, error)
	terms    map[string]writer          // the present or last term or hold
	holds    map[string]*incumbent.Hold // until unlock
	presents map[string]present
}

// verb carries out a command. The words that it returns are the answer's.
type verb func(a *agent, ctx context.Context, name string, args []string) (string, error)

// writer is a term or a hold: what guards a write.
type writer interface {
	Write(context.Context, ...incumbent.Op) ([]incumbent.OpResult, error)
}

// Run obeys the commands of in until its end.
func Run(o Orders, in io.Reader, out io.Writer) error {
	client, err := incumbent.Open(context.Background(), incumbent.Config{
		Servers: o.Servers, SessionTimeout: o.Timeout, Tick: o.Tick, ConnectRetry: retry,
	})
	if err != nil {
		return err
	}
	a := &agent{
		client: client, out: out, verbs: map[string]verb{},
		closers: map[string]func(context.Context) error{}, resigns: map[string]func(context.Context) error{},
		lines: map[string]func(context.Context) ([]incumbent.Participant, error){},
		terms: map[string]writer{}, holds: map[string]*incumbent.Hold{}, presents: map[string]present{},
	}
	a.beliefs = beliefs{say: a.say, all: map[string]*belief{}}
	for _, room := range []map[string]verb{elections, locks, queues, groups, nodes} {
		for name, v := range room {
			a.verbs[name] = v
		}
	}
	if err := client.WaitConnected(context.Background()); err != nil {
		return err
	}
	a.say("ready")
	return a.obey(in)
}

// obey runs each command in a goroutine. At the end of the input it gives up those that wait.
func (a *agent) obey(in io.Reader) error {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	over := make(chan struct{})
	all.Add(1)
	go func() { defer all.Done(); a.beliefs.watch(over) }()
	commands := bufio.NewScanner(in)
	for commands.Scan() {
		words := strings.Fields(commands.Text())
		if len(words) < 3 {
			a.say("error a command of %d words", len(words))
			continue
		}
		all.Add(1)
		go func() { defer all.Done(); a.command(ctx, words) }()
	}
	cancel()
	close(over)
	closing, done := context.WithTimeout(context.Background(), closeWithin)
	defer done()
	err := a.client.Close(closing)
	all.Wait()
	return errors.Join(commands.Err(), err)
}

func (a *agent) command(ctx context.Context, words []string) {
	number, name := words[0], words[2]
	v, known := a.verbs[words[1]]
	if !known {
		a.say("%s error no such command: %s", number, words[1])
		return
	}
	answer, err := v(a, ctx, name, words[3:])
	if err != nil {
		a.say("%s error %s", number, strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	a.say("%s ok %s", number, answer)
}

func (a *agent) say(format string, args ...any) {
	a.outMu.Lock()
	defer a.outMu.Unlock()
	fmt.Fprintf(a.out, format+"\n", args...)
}

// find returns a handle of this name.
func find[H any](a *agent, all map[string]H, name string) (h H, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h, known := all[name]
	if !known {
		return h, fmt.Errorf("there is no %s for this", name)
	}
	return h, nil
}

// keep keeps a handle under a name.
func keep[H any](a *agent, all map[string]H, name string, h H) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all[name] = h
}

// word returns an argument, or an error that says which is missing.
func word(args []string, i int) (string, error) {
	if i >= len(args) {
		return "", fmt.Errorf("argument %d is missing", i+1)
	}
	return args[i], nil
}
