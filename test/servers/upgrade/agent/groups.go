package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent"
)

// groups are the commands of those who meet:
//
//	enter NAME PATH N, exit NAME   a double barrier of N members
//	set-barrier, wait-barrier, remove-barrier NAME PATH
//	open-gate, wait-gate, shut-gate NAME PATH
//	persist NAME PATH DATA         the answer comes when the node is there; leave ends it
//	member NAME PATH ID DATA       the same for a member of a group
//	data NAME DATA                 replace the data of either
//	members NAME PATH              the answer is ID=DATA of each
var groups = map[string]verb{
	"enter": func(a *agent, ctx context.Context, name string, args []string) (string, error) {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return "", err
		}
		b, err := a.client.DoubleBarrier(args[0], n, incumbent.DoubleBarrierOptions{Retry: retry})
		if err != nil {
			return "", err
		}
		keep(a, a.closers, name, b.Close)
		keep(a, a.resigns, name, b.Leave)
		return "", b.Enter(ctx)
	},
	"exit": func(a *agent, ctx context.Context, name string, _ []string) (string, error) {
		leave, err := find(a, a.resigns, name)
		if err != nil {
			return "", err
		}
		return "", leave(ctx)
	},
	"set-barrier":    barrier((*incumbent.Barrier).Set),
	"wait-barrier":   barrier((*incumbent.Barrier).Wait),
	"remove-barrier": barrier((*incumbent.Barrier).Remove),
	"open-gate":      gate((*incumbent.Gate).Open),
	"wait-gate":      gate((*incumbent.Gate).Wait),
	"shut-gate":      gate((*incumbent.Gate).Shut),
	"persist": func(a *agent, ctx context.Context, name string, args []string) (string, error) {
		p, err := a.client.PersistentNode(args[0], []byte(args[1]), incumbent.PersistentNodeOptions{Retry: retry})
		if err != nil {
			return "", err
		}
		return "", a.present(ctx, name, p)
	},
	"member": func(a *agent, ctx context.Context, name string, args []string) (string, error) {
		m, err := a.client.Membership(args[0], args[1], []byte(args[2]), incumbent.PersistentNodeOptions{Retry: retry})
		if err != nil {
			return "", err
		}
		return "", a.present(ctx, name, m)
	},
	"data": func(a *agent, ctx context.Context, name string, args []string) (string, error) {
		p, err := find(a, a.presents, name)
		if err != nil {
			return "", err
		}
		return "", p.SetData(ctx, []byte(args[0]))
	},
	"members": func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		all, err := a.client.Members(ctx, args[0])
		var words []string
		for _, m := range all {
			words = append(words, fmt.Sprintf("%s=%s", m.ID, m.Payload))
			err = errors.Join(err, m.Err)
		}
		slices.Sort(words)
		return strings.Join(words, " "), err
	},
}

// present is a persistent node or a membership.
type present interface {
	Start() error
	WaitPresent(context.Context) error
	SetData(context.Context, []byte) error
	Close(context.Context) error
}

func (a *agent) present(ctx context.Context, name string, p present) error {
	keep(a, a.closers, name, p.Close)
	keep(a, a.presents, name, p)
	return errors.Join(p.Start(), p.WaitPresent(ctx))
}

func barrier(call func(*incumbent.Barrier, context.Context) error) verb {
	return func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		b, err := a.client.Barrier(args[0])
		if err != nil {
			return "", err
		}
		return "", call(b, ctx)
	}
}

func gate(call func(*incumbent.Gate, context.Context) error) verb {
	return func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		g, err := a.client.Gate(args[0])
		if err != nil {
			return "", err
		}
		return "", call(g, ctx)
	}
}
