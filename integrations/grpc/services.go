package incumbentgrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/attributes"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/discovery"
)

// ServiceScheme is the scheme of targets that name a service, as in incumbent:///services/orders.
const ServiceScheme = "incumbent"

// roundRobin is the service config of a channel to a service.
const roundRobin = `{"loadBalancingConfig": [{"round_robin": {}}]}`

// withPickFirst returns a service config with another load-balancing policy: pick_first fails calls with the resolver's
// words if there is no address, and round_robin with its own.
func withPickFirst(config string) string {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(config), &fields) // what is no JSON is refused as it is
	delete(fields, "loadBalancingPolicy")
	fields["loadBalancingConfig"] = json.RawMessage(`[{"pick_first": {}}]`)
	changed, _ := json.Marshal(fields) // they were JSON
	return string(changed)
}

// ServiceOptions are the options of Services. The zero value is good.
type ServiceOptions struct {
	// Address returns where an instance listens, as host:port, and "" to leave it out. It must be quick. Default:
	// PlainAddress. What an instance says is foreign: see LeaderOptions.Address.
	Address func(discovery.Found) string
	// MaxAge is for how long the addresses stay while there is no connection to the ensemble: instances that are gone
	// meanwhile are not noticed. Default: without end, as the services may live on, and gRPC leaves out those that it
	// does not reach.
	MaxAge time.Duration
	// ServiceConfig is gRPC's service config in JSON. Default: round_robin. With grpc.WithDisableServiceConfig the
	// channel has its own.
	ServiceConfig string
}

// PlainAddress returns the address and the port of an instance, or its SSL port if it has no other.
func PlainAddress(f discovery.Found) string {
	if f.Port == 0 {
		return SSLAddress(f)
	}
	return net.JoinHostPort(f.Address, strconv.Itoa(f.Port))
}

// SSLAddress returns the address and the SSL port of an instance, "" if it has none.
func SSLAddress(f discovery.Found) string {
	if f.SSLPort == 0 {
		return ""
	}
	return net.JoinHostPort(f.Address, strconv.Itoa(f.SSLPort))
}

type serviceBuilder struct {
	client  *incumbent.Client
	options ServiceOptions
}

// Services returns a builder for channels to the instances of services that the package discovery, or Curator's
// x-discovery, has registered: the target incumbent:///services/orders names the service orders below /services. Hand
// it to grpc.WithResolvers. The client stays the caller's: close it after the channels.
//
// Disabled instances, those without an address and nodes that hold no instance are left out. An instance that fails
// is left out by gRPC, which goes on trying to reach it, and not by the down marks of a discovery.Provider.
func Services(client *incumbent.Client, options ServiceOptions) resolver.Builder {
	if options.Address == nil {
		options.Address = PlainAddress
	}
	if options.ServiceConfig == "" {
		options.ServiceConfig = roundRobin
	}
	return &serviceBuilder{client, options}
}

// Scheme returns ServiceScheme.
func (b *serviceBuilder) Scheme() string { return ServiceScheme }

// Build is called by gRPC for each channel. The error says what is wrong with the target or the options.
func (b *serviceBuilder) Build(t resolver.Target, cc resolver.ClientConn, o resolver.BuildOptions) (resolver.Resolver,
	error) {
	dir, err := pathOf(t)
	if err != nil {
		return nil, err
	}
	if b.options.MaxAge < 0 {
		return nil, fmt.Errorf("incumbent: MaxAge %v: want 0 or more", b.options.MaxAge)
	}
	base, service := path.Split(dir)
	if base == "/" {
		return nil, fmt.Errorf("incumbent: target %s: want a service below a node, as in %s:///services/orders",
			dir, ServiceScheme)
	}
	var config, failed *serviceconfig.ParseResult
	if !o.DisableServiceConfig {
		if config = cc.ParseServiceConfig(b.options.ServiceConfig); config.Err != nil {
			return nil, fmt.Errorf("incumbent: ServiceConfig: %w", config.Err)
		}
		failed = cc.ParseServiceConfig(withPickFirst(b.options.ServiceConfig))
	}
	services, err := discovery.New(b.client, path.Clean(base))
	if err != nil {
		return nil, err
	}
	cache, err := services.Cache(service, discovery.CacheOptions{})
	if err != nil {
		return nil, err
	}
	r := &serviceResolver{channel: newChannel(cc, b.client, "who serves "+dir, nil), options: b.options, cache: cache,
		path: dir}
	r.config, r.failed = config, failed
	r.follow.Go(r.watch)
	return r, nil
}

// serviceResolver follows one service for one channel.
type serviceResolver struct {
	*channel
	options ServiceOptions
	cache   *discovery.Cache
	path    string
	closing sync.Once

	old *time.Timer // ends the addresses' age; nil if they are not stale. Under the lock, as has
	has bool        // the channel has addresses
}

// watch follows the service until the resolver or the client is closed.
func (r *serviceResolver) watch() {
	for view, err := range r.cache.Watch(r.ctx) {
		r.apply(view, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.cache.Err()
	if r.client.Closed() || err == nil {
		err = incumbent.ErrClosed
	}
	r.fail(fmt.Errorf("incumbent: who serves %s is not known: %w", r.path, err))
}

// apply takes a view of the service, or why it cannot be read.
func (r *serviceResolver) apply(view discovery.View, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if !r.has {
			r.fail(fmt.Errorf("incumbent: who serves %s is not known: %w", r.path, err))
		}
		return
	}
	if r.client.Closed() {
		return
	}
	if view.Stale {
		if r.old == nil && r.options.MaxAge > 0 {
			r.old = time.AfterFunc(max(r.options.MaxAge-view.Age, 0), r.tooOld)
		}
		return
	}
	if r.old != nil {
		r.old.Stop()
		r.old = nil
	}
	endpoints := r.endpoints(view)
	if r.has = len(endpoints) > 0; !r.has {
		r.fail(fmt.Errorf("incumbent: nobody serves %s: %d instances are known, none of them enabled and with an "+
			"address; %d nodes are no instances", r.path, len(view.Instances), len(view.Unreadable)))
		return
	}
	r.serve(endpoints...)
}

// endpoints returns the instances that may be called.
func (r *serviceResolver) endpoints(view discovery.View) []resolver.Endpoint {
	var all []resolver.Endpoint
	for _, f := range view.Instances {
		if f.Disabled {
			continue
		}
		if addr := r.options.Address(f); addr != "" {
			all = append(all, resolver.Endpoint{
				Addresses:  []resolver.Address{{Addr: addr}},
				Attributes: attributes.New(foundKey{}, &f),
			})
		}
	}
	return all
}

// tooOld takes the addresses away, unless the cache has been read again.
func (r *serviceResolver) tooOld() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.old == nil || !r.cache.View().Stale {
		return
	}
	r.has = false
	r.fail(fmt.Errorf("incumbent: who serves %s is not known: %w", r.path,
		errors.Join(fmt.Errorf("no word from the ensemble for %v", r.options.MaxAge), r.client.Err())))
}

// Close ends the following. gRPC calls it.
func (r *serviceResolver) Close() {
	r.closing.Do(func() {
		r.channel.Close()
		r.mu.Lock()
		if r.old != nil {
			r.old.Stop()
		}
		r.mu.Unlock()
		_ = r.cache.Close(context.Background()) // the tree cache has no work to wait for
	})
}

type foundKey struct{}

// FoundIn returns the instance of an endpoint, with its payload, for a load-balancing policy of the caller's own. It
// returns false if the endpoint is not of Services.
func FoundIn(e resolver.Endpoint) (discovery.Found, bool) {
	f, ok := e.Attributes.Value(foundKey{}).(*discovery.Found)
	if !ok {
		return discovery.Found{}, false
	}
	return *f, true
}
