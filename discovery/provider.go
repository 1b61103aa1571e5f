package discovery

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
)

// DownPolicy says when an instance that failed is left out, and for how long. The zero value is Curator's default.
type DownPolicy struct {
	// Threshold is how many errors within Timeout take an instance out. Default: 2.
	Threshold int
	// Timeout is for how long it is left out, from its last error on. Default: 30 s.
	Timeout time.Duration
}

// ProviderOptions are the options of a provider. The zero value is good.
type ProviderOptions struct {
	Strategy Strategy         // default: RoundRobin
	Filter   func(Found) bool // reports whether an instance may be picked; nil: any may. It has to be safe as Strategy
	Down     DownPolicy
	// MaxAge is for how long the cache may have been without the ensemble: Pick returns ErrTooOld after that. Default:
	// any time, as in Curator.
	MaxAge time.Duration
}

// Provider picks instances from a cache: Curator's ServiceProvider. It has no goroutine, and ends with its cache. All
// its methods are safe to call from any goroutine.
type Provider struct {
	cache   *Cache
	options ProviderOptions

	mu     sync.Mutex
	errors map[downKey]downErrors
	purged time.Time // when old errors were forgotten last
}

// downKey is an instance as it was written: one that was written again has no errors.
type downKey struct{ node, data string }

// downErrors are the errors of an instance.
type downErrors struct {
	count        int
	first, until time.Time // until is zero below the threshold
}

// Provider returns a provider of the cache's instances. The error is ErrInstance: what is wrong with the options.
func (c *Cache) Provider(options ProviderOptions) (*Provider, error) {
	o := &options
	if o.Down.Threshold < 0 || o.Down.Timeout < 0 || o.MaxAge < 0 {
		return nil, bad("provider: threshold %d, timeout %v, MaxAge %v: want none below 0",
			o.Down.Threshold, o.Down.Timeout, o.MaxAge)
	}
	if o.Strategy == nil {
		o.Strategy = RoundRobin()
	}
	if o.Down.Threshold == 0 {
		o.Down.Threshold = 2
	}
	if o.Down.Timeout == 0 {
		o.Down.Timeout = 30 * time.Second
	}
	return &Provider{cache: c, options: options, errors: map[downKey]downErrors{}, purged: time.Now()}, nil
}

// Pick returns an instance that is enabled, not down, and passes the filter. It sends nothing and does not wait:
// before the cache is ready it picks from what was read so far. Found.Age says how old the answer is without a
// connection.
//
// Errors: ErrNoInstance, ErrTooOld, ErrTooMany, or incumbent.ErrClosed.
func (p *Provider) Pick() (Found, error) {
	select {
	case <-p.cache.ended:
		return Found{}, fmt.Errorf("discovery: pick of service %s: %w", quote(p.cache.service), incumbent.ErrClosed)
	default:
	}
	all, age, stale := p.cache.snapshot()
	if p.options.MaxAge > 0 && stale && age > p.options.MaxAge {
		return Found{}, fmt.Errorf("%w: service %s: no connection for %v, of at most %v",
			ErrTooOld, quote(p.cache.service), age, p.options.MaxAge)
	}
	candidates, disabled, down := p.candidates(all)
	if len(candidates) == 0 {
		if err := p.cache.Err(); err != nil {
			return Found{}, fmt.Errorf("%w of service %s: %w", ErrNoInstance, quote(p.cache.service), err)
		}
		return Found{}, fmt.Errorf("%w of service %s: %d are known, %d of them are disabled, %d down, %d filtered out",
			ErrNoInstance, quote(p.cache.service), len(all), disabled, down, len(all)-disabled-down)
	}
	found := p.options.Strategy(candidates)
	found.Age = age
	return found, nil
}

// All returns the instances that may be picked now, in the order of their nodes' names.
func (p *Provider) All() []Found {
	all, age, _ := p.cache.snapshot()
	candidates, _, _ := p.candidates(all)
	for i := range candidates {
		candidates[i].Age = age
	}
	return candidates
}

// candidates returns the instances that may be picked, and how many are disabled or down.
func (p *Provider) candidates(all []Found) (candidates []Found, disabled, down int) {
	out := p.down()
	candidates = make([]Found, 0, len(all))
	for _, f := range all {
		switch {
		case f.Disabled:
			disabled++
		case out[downKey{f.Node, f.data}]:
			down++
		case p.options.Filter == nil || p.options.Filter(f):
			candidates = append(candidates, f)
		}
	}
	return candidates, disabled, down
}

// down returns the instances that are down now.
func (p *Provider) down() map[downKey]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.purge()
	var out map[downKey]bool
	for key, e := range p.errors {
		if time.Now().Before(e.until) {
			if out == nil {
				out = map[downKey]bool{}
			}
			out[key] = true
		}
	}
	return out
}

// NoteError says that a call to an instance failed. After DownPolicy.Threshold errors within its Timeout the instance
// is down: it is not picked until Timeout has passed without another error, or until it is written again.
func (p *Provider) NoteError(f Found) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.purge()
	now, key := time.Now(), downKey{f.Node, f.data}
	e := p.errors[key]
	if e.over(now, p.options.Down.Timeout) {
		e = downErrors{first: now}
	}
	if e.count++; e.count >= p.options.Down.Threshold {
		e.until = now.Add(p.options.Down.Timeout)
	}
	p.errors[key] = e
}

// over reports whether the errors no longer count.
func (e downErrors) over(now time.Time, timeout time.Duration) bool {
	if !e.until.IsZero() {
		return !now.Before(e.until)
	}
	return now.Sub(e.first) >= timeout
}

// purge forgets errors that no longer count, twice in a Timeout; with the lock.
func (p *Provider) purge() {
	now, timeout := time.Now(), p.options.Down.Timeout
	if now.Sub(p.purged) < timeout/2 {
		return
	}
	p.purged = now
	maps.DeleteFunc(p.errors, func(_ downKey, e downErrors) bool { return e.over(now, timeout) })
}

// Down returns the nodes of instances that are down now, in alphabetical order.
func (p *Provider) Down() []string {
	var nodes []string
	for key := range p.down() {
		nodes = append(nodes, key.node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}
