package agent

import (
	"context"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent"
)

// nodes are the commands on numbers and single nodes. NAME is not used:
//
//	add NAME PATH N, long NAME PATH, swap NAME PATH WAS NEXT, put-long NAME PATH N   an atomic long
//	count NAME PATH, put-count NAME PATH N, try-count NAME PATH N                    a shared count
//	create NAME PATH DATA [container|protected], get NAME PATH, set NAME PATH DATA, delete NAME PATH
//	names NAME PATH
var nodes = map[string]verb{
	"add": long(func(l *incumbent.AtomicLong, ctx context.Context, n ...int64) (int64, error) {
		return l.Add(ctx, n[0])
	}),
	"long": long(func(l *incumbent.AtomicLong, ctx context.Context, _ ...int64) (int64, error) { return l.Get(ctx) }),
	"put-long": long(func(l *incumbent.AtomicLong, ctx context.Context, n ...int64) (int64, error) {
		return n[0], l.Set(ctx, n[0])
	}),
	"swap": long(func(l *incumbent.AtomicLong, ctx context.Context, n ...int64) (int64, error) {
		now, _, err := l.CompareAndSet(ctx, n[0], n[1])
		return now, err
	}),
	"count": count(func(s *incumbent.SharedCount, ctx context.Context, _ int32) (incumbent.Count, error) {
		return s.Get(ctx)
	}),
	"put-count": count(func(s *incumbent.SharedCount, ctx context.Context, n int32) (incumbent.Count, error) {
		return s.Set(ctx, n)
	}),
	"try-count": count(func(s *incumbent.SharedCount, ctx context.Context, n int32) (incumbent.Count, error) {
		was, err := s.Get(ctx)
		if err != nil {
			return was, err
		}
		now, _, err := s.TrySet(ctx, was, n)
		return now, err
	}),
	"create": func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		r := a.client.Create(args[0], []byte(args[1])).Parents()
		switch how, _ := word(args, 2); how {
		case "container":
			r = r.Container()
		case "protected":
			r = r.Ephemeral().Sequential().Protected()
		}
		return r.Do(ctx)
	},
	"get": func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		n, err := a.client.Get(args[0]).Do(ctx)
		return string(n.Data), err
	},
	"set": func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		_, err := a.client.Set(args[0], []byte(args[1])).Do(ctx)
		return "", err
	},
	"delete": func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		return "", a.client.Delete(args[0]).Do(ctx)
	},
	"names": func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		all, err := a.client.Children(args[0]).Do(ctx)
		return strings.Join(all, " "), err
	},
}

func long(call func(*incumbent.AtomicLong, context.Context, ...int64) (int64, error)) verb {
	return func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		l, err := a.client.AtomicLong(args[0], incumbent.AtomicLongOptions{Conflicts: 1000, Retry: retry})
		if err != nil {
			return "", err
		}
		var ns []int64
		for _, text := range args[1:] {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return "", err
			}
			ns = append(ns, n)
		}
		sum, err := call(l, ctx, ns...)
		return strconv.FormatInt(sum, 10), err
	}
}

func count(call func(*incumbent.SharedCount, context.Context, int32) (incumbent.Count, error)) verb {
	return func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		s, err := a.client.SharedCount(args[0], 0)
		if err != nil {
			return "", err
		}
		var n int64
		if len(args) > 1 {
			if n, err = strconv.ParseInt(args[1], 10, 32); err != nil {
				return "", err
			}
		}
		c, err := call(s, ctx, int32(n))
		return strconv.Itoa(int(c.Value)), err
	}
}
