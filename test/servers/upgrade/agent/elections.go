package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/incumbent-go/incumbent"
)

// elections are the commands of those who lead:
//
//	latch NAME PATH ID, election NAME PATH PREFIX ID, selector NAME PATH ID, job NAME JOB ID   start to take part
//	resign NAME         give leadership up; the answer comes when the node is gone
//	leave NAME          close the handle; also that of a consumer, a member or a double barrier
//	line NAME           the IDs in line
//	write NAME PATH DATA   under the present or the last term or hold
var elections = map[string]verb{
	"latch": func(a *agent, ctx context.Context, name string, args []string) (string, error) {
		l, err := a.client.Latch(args[0], options(args[1]))
		if err != nil {
			return "", err
		}
		return "", a.enlist(ctx, name, l, l.Resign, l.Participants)
	},
	"election": func(a *agent, ctx context.Context, name string, args []string) (string, error) {
		e, err := a.client.Election(args[0], args[1], options(args[2]))
		if err != nil {
			return "", err
		}
		return "", a.enlist(ctx, name, e, e.Resign, e.Participants)
	},
	"job": func(a *agent, ctx context.Context, name string, args []string) (string, error) {
		j, err := jobElection(a.client.JobElection, args[0], args[1])
		if err != nil {
			return "", err
		}
		return "", a.enlist(ctx, name, j, j.RemoveLeader, nil)
	},
	"selector": selector,
	"resign": func(a *agent, ctx context.Context, name string, _ []string) (string, error) {
		resign, err := find(a, a.resigns, name)
		if err != nil {
			return "", err
		}
		a.beliefs.look(name)
		return "", resign(ctx)
	},
	"leave": func(a *agent, ctx context.Context, name string, _ []string) (string, error) {
		leave, err := find(a, a.closers, name)
		if err != nil {
			return "", err
		}
		a.beliefs.look(name)
		return "", leave(ctx)
	},
	"line": func(a *agent, ctx context.Context, name string, _ []string) (string, error) {
		line, err := find(a, a.lines, name)
		if err != nil {
			return "", err
		}
		all, err := line(ctx)
		var ids []string
		for _, p := range all {
			ids = append(ids, p.ID)
		}
		return strings.Join(ids, " "), err
	},
	"write": write,
}

func options(id string) incumbent.LatchOptions { return named[incumbent.LatchOptions](id) }

// named returns the options of an election with an ID, in whichever struct a version has it.
func named[O any](id string) (o O) {
	v := reflect.ValueOf(&o).Elem()
	v.FieldByName("ID").SetString(id)
	v.FieldByName("Retry").Set(reflect.ValueOf(retry))
	return o
}

// jobElection opens a job election, whose options differ by version.
func jobElection[O any](open func(string, O) (*incumbent.JobElection, error), path, id string,
) (*incumbent.JobElection, error) {
	return open(path, named[O](id))
}

// candidate is a latch, a plain election or a job election.
type candidate interface {
	Start() error
	Await(context.Context) (*incumbent.Leadership, error)
	HasLeadership() bool
	Close(context.Context) error
}

// enlist starts a candidate, and works under every term of it until it is closed.
func (a *agent) enlist(ctx context.Context, name string, c candidate, resign func(context.Context) error,
	line func(context.Context) ([]incumbent.Participant, error)) error {
	keep(a, a.closers, name, c.Close)
	keep(a, a.resigns, name, resign)
	a.beliefs.keep(name, c.HasLeadership)
	if line != nil {
		keep(a, a.lines, name, line)
	}
	if err := c.Start(); err != nil {
		return err
	}
	go a.serve(ctx, name, c)
	return nil
}

func (a *agent) serve(ctx context.Context, name string, c candidate) {
	for {
		term, err := c.Await(ctx)
		if errors.Is(err, incumbent.ErrClosed) || ctx.Err() != nil {
			return
		}
		if err != nil {
			a.say("error %s: %v", name, err)
			return
		}
		a.work(name, term, nil)
		term.Release()
	}
}

// work is the work of a term: it waits for the end of it, or for over.
func (a *agent) work(name string, term *incumbent.Leadership, over <-chan struct{}) {
	keep[writer](a, a.terms, name, term)
	a.beliefs.look(name)
	a.say("leading %s %d", name, term.Token())
	select {
	case <-term.Context().Done():
	case <-over:
	}
	a.say("stopped %s", name)
}

func selector(a *agent, _ context.Context, name string, args []string) (string, error) {
	turns := make(chan struct{}, 1)
	o := named[incumbent.SelectorOptions](args[1])
	o.AutoRequeue = true
	s, err := a.client.Selector(args[0], func(term *incumbent.Leadership) error {
		a.work(name, term, turns)
		return nil
	}, o)
	if err != nil {
		return "", err
	}
	keep(a, a.closers, name, s.Close)
	a.beliefs.keep(name, s.HasLeadership)
	keep(a, a.lines, name, s.Participants)
	keep(a, a.resigns, name, func(context.Context) error { turns <- struct{}{}; return nil })
	return "", s.Start()
}

// write reads a node and writes it under the term or hold of this name, so that two that believed at once would notice.
func write(a *agent, ctx context.Context, name string, args []string) (string, error) {
	term, err := find(a, a.terms, name)
	if err != nil {
		return "", err
	}
	now, err := a.client.Get(args[0]).Do(ctx)
	if err != nil {
		return "", err
	}
	if _, err := term.Write(ctx, incumbent.SetData(args[0], []byte(args[1]), now.Stat.Version)); err != nil {
		return "", err
	}
	return fmt.Sprintf("after %s", now.Data), nil
}
