package incumbentgrpc_test

import (
	"net"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/discovery"
	incumbentgrpc "github.com/incumbent-go/incumbent/integrations/grpc"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const orders = "/services/orders"

func serviceChannel(t *testing.T, c *incumbent.Client, o incumbentgrpc.ServiceOptions) *grpc.ClientConn {
	t.Helper()
	return dial(t, "incumbent://"+orders, grpc.WithResolvers(incumbentgrpc.Services(c, o)))
}

// instance returns an instance of orders at this address.
func instance(t *testing.T, id, addr string) discovery.Instance {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return discovery.Instance{Service: "orders", ID: id, Address: host, Port: n}
}

// register registers instances of a client of its own.
func register(t *testing.T, srv *zkmem.Server, all ...discovery.Instance) (*incumbent.Client,
	[]*discovery.Registration) {
	t.Helper()
	c := open(t, incumbent.Config{Servers: srv.Addr()})
	services, err := discovery.New(c, "/services")
	if err != nil {
		t.Fatal(err)
	}
	var own []*discovery.Registration
	for _, i := range all {
		r, err := services.Register(i)
		if err == nil {
			err = r.WaitPresent(bounded(t))
		}
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, r)
	}
	return c, own
}

// answerers makes calls until these servers have answered, and no others.
func answerers(t *testing.T, conn *grpc.ClientConn, want ...string) {
	t.Helper()
	ctx, missing := bounded(t), map[string]bool{}
	for _, id := range want {
		missing[id] = true
	}
	for len(missing) > 0 {
		id, err := ask(ctx, conn, grpc.WaitForReady(true))
		if err != nil {
			t.Fatalf("%v have not answered: %v", missing, err)
		}
		delete(missing, id)
	}
}

// A channel to a service calls the instances that are enabled and have an address, in turns, and follows them.
func TestCallsGoToAllInstances(t *testing.T) {
	srv := zkmem.Start(t)
	a, b, off := serve(t, "a", nil), serve(t, "b", nil), serve(t, "off", nil)
	conn := serviceChannel(t, open(t, incumbent.Config{Servers: srv.Addr()}), incumbentgrpc.ServiceOptions{})
	failing(t, conn, "nobody serves "+orders)
	disabled := instance(t, "off", off.addr)
	disabled.Disabled = true
	without := discovery.Instance{Service: "orders", ID: "without"}
	_, own := register(t, srv, disabled, without)
	failing(t, conn, "2 instances are known")
	if _, err := srv.Create(orders+"/broken", []byte("x"), zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
	ssl := instance(t, "b", b.addr)
	ssl.Port, ssl.SSLPort = 0, ssl.Port
	c, _ := register(t, srv, instance(t, "a", a.addr), ssl)
	answerers(t, conn, "a", "b")
	if n := off.calls.Load(); n != 0 {
		t.Errorf("a disabled instance has got %d calls", n)
	}
	disabled.Disabled = false
	if err := own[0].Update(bounded(t), disabled); err != nil {
		t.Fatal(err)
	}
	answerers(t, conn, "a", "b", "off")
	expire(t, srv, c)
	if err := own[0].Close(bounded(t)); err != nil {
		t.Fatal(err)
	}
	answerers(t, conn, "a", "b") // they are registered again
}

// Addresses stay without the ensemble, unless MaxAge says for how long.
func TestAddressesOfAServiceAge(t *testing.T) {
	srv := zkmem.Start(t)
	a := serve(t, "a", nil)
	register(t, srv, instance(t, "a", a.addr))
	c := open(t, incumbent.Config{Servers: srv.Addr()})
	ever := serviceChannel(t, c, incumbentgrpc.ServiceOptions{})
	aged := serviceChannel(t, c, incumbentgrpc.ServiceOptions{MaxAge: 10 * time.Millisecond})
	answers(t, ever, "a")
	answers(t, aged, "a")
	srv.Stop()
	failing(t, aged, "no word from the ensemble for 10ms")
	answers(t, ever, "a")
	if err := srv.Restart(); err != nil {
		t.Fatal(err)
	}
	answers(t, aged, "a")
}

// seen is a channel that keeps the last state.
type seen struct {
	resolver.ClientConn
	states chan resolver.State
}

func (s *seen) UpdateState(state resolver.State) error {
	s.states <- state
	return nil
}

func (s *seen) ReportError(error) {}

func (s *seen) ParseServiceConfig(string) *serviceconfig.ParseResult {
	return &serviceconfig.ParseResult{}
}

// An endpoint has the instance with its payload, and the address that the options choose.
func TestEndpointsHaveTheirInstance(t *testing.T) {
	srv := zkmem.Start(t)
	i := discovery.Instance{Service: "orders", ID: "a", Address: "::1", Port: 1, SSLPort: 2,
		Payload: []byte(`{"zone":1}`)}
	register(t, srv, i)
	s := &seen{states: make(chan resolver.State, 1)}
	b := incumbentgrpc.Services(open(t, incumbent.Config{Servers: srv.Addr()}),
		incumbentgrpc.ServiceOptions{Address: incumbentgrpc.SSLAddress})
	conn := dial(t, "incumbent://"+orders, grpc.WithResolvers(b))
	target := resolver.Target{}
	if err := target.URL.UnmarshalBinary([]byte(conn.CanonicalTarget())); err != nil {
		t.Fatal(err)
	}
	r, err := b.Build(target, s, resolver.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.ResolveNow(resolver.ResolveNowOptions{})
	state := <-s.states
	if len(state.Endpoints) != 1 || state.Endpoints[0].Addresses[0].Addr != "[::1]:2" || len(state.Addresses) != 1 {
		t.Fatalf("the endpoints are %v", state.Endpoints)
	}
	f, ok := incumbentgrpc.FoundIn(state.Endpoints[0])
	if !ok || string(f.Payload) != string(i.Payload) || f.Node != "a" {
		t.Errorf("the instance is %+v", f)
	}
	if _, ok := incumbentgrpc.FoundIn(resolver.Endpoint{}); ok {
		t.Error("a foreign endpoint has an instance")
	}
}

// A program's own service config wins.
func TestTheServiceConfigIsTheProgramsOwn(t *testing.T) {
	srv := zkmem.Start(t)
	a, b := serve(t, "a", nil), serve(t, "b", nil)
	register(t, srv, instance(t, "a", a.addr), instance(t, "b", b.addr))
	c := open(t, incumbent.Config{Servers: srv.Addr()})
	const pickFirst = `{"loadBalancingConfig": [{"pick_first": {}}]}`
	byOption := serviceChannel(t, c, incumbentgrpc.ServiceOptions{ServiceConfig: pickFirst})
	byChannel, err := grpc.NewClient("incumbent://"+orders, grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(pickFirst), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithResolvers(incumbentgrpc.Services(c, incumbentgrpc.ServiceOptions{ServiceConfig: "{"})))
	if err != nil {
		t.Fatal(err)
	}
	defer byChannel.Close()
	for _, conn := range []*grpc.ClientConn{byOption, byChannel} {
		for range 20 {
			answers(t, conn, "a")
		}
	}
	if _, err := ask(bounded(t), serviceChannel(t, c, incumbentgrpc.ServiceOptions{ServiceConfig: "{"})); err == nil {
		t.Error("a service config that is no JSON is accepted")
	}
}
