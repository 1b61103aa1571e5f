package incumbentgrpc

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"

	"github.com/incumbent-go/incumbent"
)

// LeaderScheme is the scheme of targets that name a line, as in incumbent-leader:///jobs/nightly.
const LeaderScheme = "incumbent-leader"

// LeaderOptions are the options of a LeaderBuilder. The zero value is good.
type LeaderOptions struct {
	// Address returns where a leader listens, as host:port, and "" if that is not known. It must be quick. Default:
	// what it advertises by LatchOptions.Advertise, or its ID if it advertises nothing. Both are data of nodes:
	// everybody who may write to the line chooses them. Where that is not the servers alone, look them up in a list, or
	// have TLS verify who answers.
	Address func(incumbent.Leader) string
	// Prefixes are those of plain elections at the path, as for incumbent.Client.Watch.
	Prefixes []string
}

// LeaderBuilder resolves targets that name a line to the address of its leader. All its methods are safe to call from
// any goroutine; one builder serves any number of channels.
type LeaderBuilder struct {
	client  *incumbent.Client
	options LeaderOptions

	mu    sync.Mutex
	lines map[string]*followed // by path
}

// followed is a line that channels follow.
type followed struct {
	channels int
	token    int64 // of the leader that was seen last; 0: none
}

// Leaders returns a builder for channels to leaders. The client stays the caller's: close it after the channels.
//
// The first in line is taken for the leader, which it is or will be soon: it refuses calls until then, if it has a
// Guard. Its address is dropped when its node goes, and when the client's session must be assumed to be over
// (incumbent.Lost), a session timeout after the last word from the ensemble.
func Leaders(client *incumbent.Client, options LeaderOptions) *LeaderBuilder {
	if options.Address == nil {
		options.Address = func(l incumbent.Leader) string { return cmp.Or(l.Address, l.First.ID) }
	}
	return &LeaderBuilder{client: client, options: options, lines: map[string]*followed{}}
}

// DialOptions returns the options for grpc.NewClient: the resolver, and the interceptors that send the leader's
// token to the callee.
func (b *LeaderBuilder) DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithResolvers(b),
		grpc.WithChainUnaryInterceptor(b.Unary),
		grpc.WithChainStreamInterceptor(b.Stream),
	}
}

// Scheme returns LeaderScheme.
func (b *LeaderBuilder) Scheme() string { return LeaderScheme }

// Build is called by gRPC for each channel. The error says what is wrong with the target.
func (b *LeaderBuilder) Build(t resolver.Target, cc resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver,
	error) {
	path, err := pathOf(t)
	if err != nil {
		return nil, err
	}
	if err := incumbent.CheckPath(path, b.options.Prefixes...); err != nil {
		return nil, err
	}
	r := &leaderResolver{
		channel: newChannel(cc, b.client, "the leader of "+path), builder: b, path: path,
		firsts: map[string]incumbent.Leader{},
	}
	b.open(path)
	r.follow.Go(r.watch)
	return r, nil
}

func (b *LeaderBuilder) open(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines[path] == nil {
		b.lines[path] = &followed{}
	}
	b.lines[path].channels++
}

func (b *LeaderBuilder) close(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines[path].channels--; b.lines[path].channels == 0 {
		delete(b.lines, path)
	}
}

// note keeps the token of a leader.
func (b *LeaderBuilder) note(path string, token int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.lines[path]; f != nil {
		f.token = token
	}
}

// Token returns the token of the leader that the channels to this line have seen last; 0 if they have seen none. It
// falls only if the ensemble was restored from a backup.
func (b *LeaderBuilder) Token(path string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.lines[path]; f != nil {
		return f.token
	}
	return 0
}

// leaderResolver follows one line for one channel.
type leaderResolver struct {
	*channel
	builder *LeaderBuilder
	path    string
	closing sync.Once

	firsts map[string]incumbent.Leader // by kind of line; used by watch alone
}

// watch follows the line until the resolver or the client is closed.
func (r *leaderResolver) watch() {
	for change, err := range r.client.WatchLeader(r.ctx, r.path, r.builder.options.Prefixes...) {
		r.apply(change, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail(fmt.Errorf("incumbent: the leader of %s is not known: %w", r.path, incumbent.ErrClosed))
}

// apply takes a change of the line, or why it cannot be read.
func (r *leaderResolver) apply(change incumbent.Leader, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.client.Closed():
		return // watch says so
	case change.Unknown:
		clear(r.firsts)
		err = errors.Join(errors.New("no word from the ensemble for a session timeout"), r.client.Err())
	case !change.Unconfirmed.IsZero():
		return // for less than a session timeout
	}
	if err != nil {
		r.fail(fmt.Errorf("incumbent: the leader of %s is not known: %w", r.path, err))
		return
	}
	kind := change.Recipe + " " + change.Prefix
	delete(r.firsts, kind)
	if change.First.First {
		r.firsts[kind] = change
	}
	addr, err := r.address(change)
	if err != nil {
		r.fail(err)
		return
	}
	r.serve(resolver.Endpoint{Addresses: []resolver.Address{{Addr: addr}}})
}

// address returns where the leader listens, or why that is not known.
func (r *leaderResolver) address(change incumbent.Leader) (string, error) {
	var leader incumbent.Leader
	for _, leader = range r.firsts {
	}
	switch {
	case len(r.firsts) > 1:
		return "", fmt.Errorf("incumbent: %s has several lines, with a leader each: want a path of one", r.path)
	case len(r.firsts) == 0 && change.Blocker.Path != "":
		return "", fmt.Errorf("incumbent: nobody leads %s: the persistent node %.64q blocks the line", r.path,
			change.Blocker.Path)
	case len(r.firsts) == 0:
		return "", fmt.Errorf("incumbent: nobody leads %s", r.path)
	case leader.Err != nil:
		return "", fmt.Errorf("incumbent: the address of the leader of %s is not known: %w", r.path, leader.Err)
	}
	r.builder.note(r.path, leader.First.Token)
	addr := r.builder.options.Address(leader)
	if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
		return "", fmt.Errorf("incumbent: the leader of %s, %.64q, has the address %.64q: want host:port, "+
			"as LatchOptions.Advertise says it", r.path, leader.First.ID, addr)
	}
	return addr, nil
}

// Close ends the following. gRPC calls it.
func (r *leaderResolver) Close() {
	r.closing.Do(func() {
		r.channel.Close()
		r.builder.close(r.path)
	})
}
