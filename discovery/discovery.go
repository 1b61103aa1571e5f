package discovery

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
)

// maxClosing is how many handles are closed at a time.
const maxClosing = 32

// Discovery registers instances and finds them, below one node. All its methods are safe to call from any goroutine.
type Discovery struct {
	client *incumbent.Client
	base   string

	mu     sync.Mutex
	closed bool
	open   map[closer]bool // registrations and caches
}

// closer is what Close ends.
type closer interface {
	Close(ctx context.Context) error
}

// New returns a Discovery of the services below this node, such as /discovery, which need not exist. It sends nothing.
// The client stays the caller's: close it after the Discovery. The error is ErrInstance: what is wrong with the path.
func New(client *incumbent.Client, base string) (*Discovery, error) {
	names := strings.Split(base, "/")
	if names[0] != "" || len(names) < 2 {
		return nil, bad("base %s: want an absolute path, as in /discovery", quote(base))
	}
	for _, name := range names[1:] {
		if checkName("base", name) != nil {
			return nil, bad("base %s: want an absolute path, as in /discovery", quote(base))
		}
	}
	return &Discovery{client: client, base: base, open: map[closer]bool{}}, nil
}

// dir returns the directory of a service.
func (d *Discovery) dir(service string) string { return d.base + "/" + service }

// add opens a handle that Close will end. The error is incumbent.ErrClosed, or what open returns.
func (d *Discovery) add(c closer, open func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return incumbent.ErrClosed
	}
	if err := open(); err != nil {
		return err
	}
	d.open[c] = true
	return nil
}

func (d *Discovery) remove(c closer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, c)
}

// Register begins to keep a node with this instance, and returns immediately: Registration.WaitPresent waits for the
// node. It is for the types Dynamic and DynamicSequential; WriteStatic writes the others. A DynamicSequential instance
// has a node of its own, whose ten digits are random, stay the same in every session, and are no server's.
//
// Errors: ErrInstance, incumbent.ErrNodeTaken if this client keeps a node for the id already, or incumbent.ErrClosed.
func (d *Discovery) Register(instance Instance) (*Registration, error) {
	if instance.Type.known() && !instance.Type.ephemeral() {
		return nil, bad("type %s: want %s or %s, or WriteStatic", instance.Type, Dynamic, DynamicSequential)
	}
	instance = withDefaults(instance)
	data, err := instance.Encode()
	if err != nil {
		return nil, err
	}
	r := &Registration{d: d, instance: instance, node: instance.ID}
	if instance.Type == DynamicSequential {
		r.node += newDigits()
	}
	err = d.add(r, func() (err error) {
		r.member, err = d.client.Membership(d.dir(instance.Service), r.node, data, incumbent.PersistentNodeOptions{})
		if err == nil {
			err = r.member.Start()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// withDefaults returns an instance with what the caller left out.
func withDefaults(i Instance) Instance {
	i.Type = cmp.Or(i.Type, Dynamic)
	if i.ID == "" {
		i.ID = newID()
	}
	if i.Registered.IsZero() {
		i.Registered = time.Now()
	}
	i.Registered = i.Registered.Truncate(time.Millisecond)
	return i
}

// Services returns the names of all services, in alphabetical order, from the server that the client is connected to.
// A service without instances may be among them. The errors are those of incumbent.Request.Do.
func (d *Discovery) Services(ctx context.Context) ([]string, error) {
	names, err := d.client.Children(d.base).Do(ctx)
	if errors.Is(err, incumbent.ErrNoNode) {
		return nil, nil
	}
	slices.Sort(names)
	return names, err
}

// List returns the instances of a service from the server that the client is connected to, which may lag behind the
// ensemble's leader. A node that cannot be read is in View.Unreadable, and is no error of List.
//
// Errors: ErrInstance, incumbent.ErrNotConnected, the context's, or an *incumbent.Error.
func (d *Discovery) List(ctx context.Context, service string) (View, error) {
	if err := checkName("service", service); err != nil {
		return View{}, err
	}
	members, err := d.client.Members(ctx, d.dir(service))
	if err != nil {
		return View{}, err
	}
	v := View{Service: service}
	for _, m := range members {
		found, err := read(m.ID, m.Payload, m.Owner, m.Err)
		if err != nil {
			v.Unreadable = append(v.Unreadable, &UnreadableError{service, m.ID, err})
			continue
		}
		v.Instances = append(v.Instances, found)
	}
	return v, nil
}

// Get returns the instance of one node: the id of a Dynamic instance, and the ids with digits of a DynamicSequential
// one. The errors are ErrInstance, an *UnreadableError, and those of incumbent.Request.Do, such as ErrNoNode.
func (d *Discovery) Get(ctx context.Context, service, node string) (Found, error) {
	if err := errors.Join(checkName("service", service), checkName("node", node)); err != nil {
		return Found{}, err
	}
	n, err := d.client.Get(d.dir(service) + "/" + node).Do(ctx)
	if err != nil {
		return Found{}, err
	}
	found, err := read(node, n.Data, n.Stat.EphemeralOwner, nil)
	if err != nil {
		return Found{}, &UnreadableError{service, node, err}
	}
	return found, nil
}

// read returns the instance of a node that was read, or failed to be.
func read(node string, data []byte, owner int64, failed error) (Found, error) {
	if failed != nil {
		return Found{}, failed
	}
	instance, err := Decode(data)
	return Found{Instance: instance, Node: node, Owner: owner, data: string(data)}, err
}

// Close ends everything that the Discovery opened: it deletes the nodes of all registrations, as Registration.Close
// does, and ends the caches and feeds. What WriteStatic wrote stays. Nothing can be opened afterwards. If the context
// ends first, Close returns its error, and the deletions go on in the background. Closing twice is no error.
func (d *Discovery) Close(ctx context.Context) error {
	d.mu.Lock()
	d.closed = true
	all := make([]closer, 0, len(d.open))
	for c := range d.open {
		all = append(all, c)
	}
	d.mu.Unlock()
	errs := make([]error, len(all))
	room := make(chan struct{}, maxClosing)
	var closing sync.WaitGroup
	for i, c := range all {
		room <- struct{}{}
		closing.Go(func() {
			errs[i] = c.Close(ctx)
			<-room
		})
	}
	closing.Wait()
	return errors.Join(errs...)
}
