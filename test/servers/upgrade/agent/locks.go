package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent"
)

// locks are the commands of those who hold:
//
//	lock NAME KIND PATH ID   wait for a hold; the answer is its token
//	try NAME KIND PATH ID    the answer is a token, or "busy"
//	unlock NAME              the answer comes when the node is gone
//	downgrade NAME PATH ID   lock for writing, and go on as a reader
//
// A KIND is mutex, read, write, or semaphore/LIMIT/PERMITS, and kazoo's names begin with "kazoo-".
var locks = map[string]verb{
	"lock": func(a *agent, ctx context.Context, name string, args []string) (string, error) {
		l, err := a.lockable(args)
		if err != nil {
			return "", err
		}
		hold, err := l.Lock(ctx)
		return a.held(name, hold, err)
	},
	"try": func(a *agent, ctx context.Context, name string, args []string) (string, error) {
		l, err := a.lockable(args)
		if err != nil {
			return "", err
		}
		hold, got, err := l.TryLock(ctx)
		if err == nil && !got {
			return "busy", nil
		}
		return a.held(name, hold, err)
	},
	"unlock": func(a *agent, ctx context.Context, name string, _ []string) (string, error) {
		hold, err := find(a, a.holds, name)
		if err != nil {
			return "", err
		}
		a.beliefs.look(name)
		return "", hold.Unlock(ctx)
	},
	"downgrade": func(a *agent, ctx context.Context, name string, args []string) (string, error) {
		l, err := a.client.ReadWriteLock(args[0], incumbent.MutexOptions{ID: args[1], Retry: retry})
		if err != nil {
			return "", err
		}
		written, err := l.Lock(ctx)
		if err != nil {
			return "", err
		}
		hold, err := written.Downgrade(ctx)
		return a.held(name, hold, err)
	},
}

// lockable returns what "KIND PATH ID" names.
func (a *agent) lockable(args []string) (incumbent.Lockable, error) {
	kind, kazoo := strings.CutPrefix(args[0], "kazoo-")
	path, id := args[1], args[2]
	words := strings.Split(kind, "/")
	switch words[0] {
	case "mutex":
		return a.client.Mutex(path, incumbent.MutexOptions{ID: id, Retry: retry, Kazoo: kazoo})
	case "read", "write":
		l, err := a.client.ReadWriteLock(path, incumbent.MutexOptions{ID: id, Retry: retry, Kazoo: kazoo})
		if err != nil {
			return nil, err
		}
		if words[0] == "read" {
			return l.Reader(), nil
		}
		return l.Writer(), nil
	case "semaphore":
		limit, bad := strconv.Atoi(words[1])
		permits, worse := strconv.Atoi(words[2])
		if err := errors.Join(bad, worse); err != nil {
			return nil, err
		}
		s, err := a.client.Semaphore(path, limit, incumbent.SemaphoreOptions{ID: id, Retry: retry, Kazoo: kazoo})
		if err != nil {
			return nil, err
		}
		return s.Permits(permits), nil
	}
	return nil, fmt.Errorf("no such lock: %s", args[0])
}

func (a *agent) held(name string, hold *incumbent.Hold, err error) (string, error) {
	if err != nil {
		return "", err
	}
	keep(a, a.holds, name, hold)
	keep[writer](a, a.terms, name, hold)
	a.beliefs.keep(name, func() bool { return hold.Check() == nil })
	return strconv.FormatInt(hold.Token(), 10), nil
}
