package discovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/incumbent-go/incumbent"
)

// Registration keeps the node of one instance: it is created again in every session, and after somebody deleted it.
// What somebody else writes to it stays, until Update. All its methods are safe to call from any goroutine.
type Registration struct {
	d        *Discovery
	member   *incumbent.Membership
	node     string
	instance Instance
}

// Instance returns the instance as it was registered, with its ID and time; updates do not change it.
func (r *Registration) Instance() Instance { return r.instance }

// Node returns the name of the instance's node.
func (r *Registration) Node() string { return r.node }

// WaitPresent returns when the node exists. If the context ends first, the error says why it does not: ErrOccupied of
// the package incumbent if another session has a node with this id, which is left alone. That may be the session of
// the process before this one, which ends after its timeout: the node is created then.
//
// Errors: incumbent.ErrClosed, the context's, or an *incumbent.Error for a failure that does not pass by itself.
func (r *Registration) WaitPresent(ctx context.Context) error { return r.member.WaitPresent(ctx) }

// Present reports whether the node exists, as far as is known.
func (r *Registration) Present() bool { return r.member.Present() }

// Err returns why the node does not exist now, such as incumbent.ErrOccupied; nil if nothing is wrong.
func (r *Registration) Err() error { return r.member.Err() }

// Update replaces what the node says of the instance, and returns when it does. Service, ID and Type have to be those
// of the registration, or empty; Registered stays as it is unless it is given. Without a connection Update waits for
// one; if the context ends first, the update is still made.
//
// Errors: ErrInstance, incumbent.ErrClosed, the context's, or an *incumbent.Error: the data were refused.
func (r *Registration) Update(ctx context.Context, instance Instance) error {
	update, err := r.prepare(instance)
	if err != nil {
		return err
	}
	data, err := update.Encode()
	if err != nil {
		return err
	}
	return r.member.SetData(ctx, data)
}

// prepare returns the update with what stays as it was.
func (r *Registration) prepare(i Instance) (Instance, error) {
	was := r.instance
	if i.Service == "" {
		i.Service = was.Service
	}
	if i.ID == "" {
		i.ID = was.ID
	}
	if i.Type == "" {
		i.Type = was.Type
	}
	if i.Registered.IsZero() {
		i.Registered = was.Registered
	}
	if i.Service != was.Service || i.ID != was.ID || i.Type != was.Type {
		return i, bad("update to %s %s of service %s: it is registered as %s %s of service %s",
			quote(string(i.Type)), quote(i.ID), quote(i.Service), was.Type, quote(was.ID), quote(was.Service))
	}
	return i, nil
}

// Close deletes the node: the instance is no longer registered. Without a connection it is deleted after the next one;
// if the context ends before, Close returns its error and the deletion goes on in the background. Closing twice is no
// error.
func (r *Registration) Close(ctx context.Context) error {
	err := r.member.Close(ctx)
	if err == nil {
		r.d.remove(r)
	}
	return err
}

// WriteStatic writes the node of a Static or Permanent instance, the default being Static. The node stays until
// DeleteStatic, whatever becomes of this process, so nothing keeps it up. A persistent node that is there is written
// again, also if another program made it; an ephemeral one is left alone. The ID has no default.
//
// Errors: ErrInstance, incumbent.ErrOccupied (a session has the node), ErrBadVersion (somebody else wrote it at the
// same time: nothing was written), and those of incumbent.Request.Do.
func (d *Discovery) WriteStatic(ctx context.Context, instance Instance) error {
	if instance.Type == "" {
		instance.Type = Static
	}
	if instance.ID == "" || instance.Type.ephemeral() {
		return bad("id %s, type %s: want an id, and %s or %s",
			quote(instance.ID), quote(string(instance.Type)), Static, Permanent)
	}
	instance = withDefaults(instance)
	data, err := instance.Encode()
	if err != nil {
		return err
	}
	path := d.dir(instance.Service) + "/" + instance.ID
	_, err = d.client.Create(path, data).Parents().Do(ctx)
	if !errors.Is(err, incumbent.ErrNodeExists) {
		return err
	}
	version, err := d.staticVersion(ctx, path)
	if err != nil {
		return err
	}
	_, err = d.client.Set(path, data).Version(version).Do(ctx)
	return err
}

// DeleteStatic deletes the persistent node of an instance; that there is none is no error.
//
// Errors: ErrInstance, incumbent.ErrOccupied (a session has the node, which is left alone), ErrBadVersion (somebody
// else wrote it at the same time: it is not deleted), and those of incumbent.Request.Do.
func (d *Discovery) DeleteStatic(ctx context.Context, service, id string) error {
	if err := errors.Join(checkName("service", service), checkName("id", id)); err != nil {
		return err
	}
	path := d.dir(service) + "/" + id
	version, err := d.staticVersion(ctx, path)
	if err == nil {
		err = d.client.Delete(path).Version(version).Do(ctx)
	}
	if errors.Is(err, incumbent.ErrNoNode) {
		return nil
	}
	return err
}

// staticVersion returns the version of a persistent node. The error is ErrOccupied if it is ephemeral.
func (d *Discovery) staticVersion(ctx context.Context, path string) (int32, error) {
	n, err := d.client.Get(path).Do(ctx)
	if err != nil {
		return 0, err
	}
	if n.Stat.EphemeralOwner != 0 {
		return 0, fmt.Errorf("%w: %s is ephemeral", incumbent.ErrOccupied, quote(path))
	}
	return n.Stat.Version, nil
}
