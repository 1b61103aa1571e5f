package doctor

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/zkio"
)

// member is a server that the ensemble's configuration names.
type member struct {
	name    string // "server.1"
	line    string // of the configuration
	address string // for clients; "": it names none
	why     string // why not
}

// membersOf reads a configuration. With TLS, which it names no port for, a server's port is that of the list.
func membersOf(config, tlsPort string, loopback bool) (all []member) {
	for line := range strings.Lines(config) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if !strings.HasPrefix(name, "server.") {
			continue
		}
		m := member{name: name, line: strings.TrimSpace(line)}
		address, err := zkio.Member(strings.TrimSpace(line), loopback)
		switch {
		case err != nil:
			m.why = text(err)
		case tlsPort != "":
			host, _, _ := net.SplitHostPort(address)
			m.address = net.JoinHostPort(host, tlsPort)
		default:
			m.address = address
		}
		all = append(all, m)
	}
	return all
}

// gather asks the servers of the list, then those that only the ensemble names, then all together.
func gather(ctx context.Context, s Settings) *Facts {
	f := &Facts{settings: s}
	for _, address := range s.Servers {
		known := func(v *Server) bool { return v.Address == address }
		if i := slices.IndexFunc(f.servers, known); i >= 0 {
			f.servers[i].twice = true
		} else {
			f.servers = append(f.servers, &Server{Address: address, Given: true})
		}
	}
	f.noteOwn()
	f.askAll(ctx, f.servers)
	f.askAll(ctx, f.noteMembers(ctx))
	defer f.close()
	f.askRejoin(ctx)
	f.askLag(ctx)
	f.askLines(ctx)
	f.askDeep(ctx)
	f.resolveAgain(ctx)
	if ctx.Err() != nil {
		f.ended = context.Cause(ctx)
	}
	return f
}

// askAll asks servers at the same time.
func (f *Facts) askAll(ctx context.Context, servers []*Server) {
	var wait sync.WaitGroup
	for _, v := range servers {
		wait.Go(func() { v.ask(ctx, &f.settings) })
	}
	wait.Wait()
}

// noteMembers takes the ensemble's configuration, and returns the servers that it adds.
func (f *Facts) noteMembers(ctx context.Context) (added []*Server) {
	port := ""
	if f.settings.TLS != nil {
		_, port, _ = net.SplitHostPort(f.settings.Servers[0])
	}
	for _, v := range f.serving() {
		for _, m := range membersOf(v.config, port, f.onLoopback()) {
			f.learnMember(m)
		}
	}
	for _, m := range f.members {
		if m.address == "" {
			f.missed(m.name+" of the ensemble's configuration, if it is not in the list",
				"the configuration does not say where clients reach it: "+m.why)
			continue
		}
		v := &Server{Address: m.address, Listed: true}
		same := func(o *Server) bool { return v.Address == o.Address || v.same(o) || o.is(m) }
		i := slices.IndexFunc(f.servers, same)
		if i < 0 {
			v.resolve(ctx, &f.settings) // the list may have an address, and the configuration a name
			i = slices.IndexFunc(f.servers, same)
		}
		if i >= 0 {
			f.servers[i].Listed = true
		} else {
			f.servers, added = append(f.servers, v), append(added, v)
		}
	}
	return added
}

// is reports whether a server says that it has the member's number, in a configuration that names the member so.
func (v *Server) is(m member) bool {
	return v.Settings.From != "" && "server."+strconv.FormatInt(v.Settings.ID, 10) == m.name &&
		strings.Contains(v.config, m.line)
}

// learnMember takes a member of one server's configuration. Each may know only its own address for clients, as it is
// where that is not part of the server's line.
func (f *Facts) learnMember(m member) {
	i := slices.IndexFunc(f.members, func(o member) bool { return o.name == m.name })
	switch {
	case i < 0:
		f.members = append(f.members, m)
	case f.members[i].address == "":
		f.members[i] = m
	}
}

// configVersion returns the version of a configuration, which each reconfig raises.
func configVersion(config string) string {
	for line := range strings.Lines(config) {
		if version, found := strings.CutPrefix(strings.TrimSpace(line), "version="); found {
			return version
		}
	}
	return ""
}

// onLoopback reports whether a server of the list is on this machine.
func (f *Facts) onLoopback() bool {
	return slices.ContainsFunc(f.servers, func(v *Server) bool {
		return slices.ContainsFunc(v.Resolved, func(ip string) bool { return net.ParseIP(ip).IsLoopback() })
	})
}

// askRejoin has each server take over a session that another one opened: one of another ensemble does not know it.
func (f *Facts) askRejoin(ctx context.Context) {
	up := slices.DeleteFunc(f.serving(), func(v *Server) bool { return v.mute })
	if len(up) < 2 {
		return
	}
	first := slices.IndexFunc(up, func(v *Server) bool { return v.Role == roleLeader })
	home := up[max(first, 0)]
	c, err := f.settings.open(ctx, home.Address, f.settings.Timeout, identity{}, false)
	if err != nil {
		f.missed("whether all servers are of one ensemble", home.Address+" opened no further session: "+text(err))
		return
	}
	of := identity{c.id, c.password}
	for _, v := range up {
		if v == home {
			continue
		}
		next, err := f.settings.open(ctx, v.Address, f.settings.Timeout, of, false)
		switch {
		case errors.Is(err, errExpired), err == nil && next.id != of.id:
			v.stranger = true
		case err != nil:
			f.missed("whether "+v.Address+" is of the same ensemble as "+home.Address,
				"it did not take over a session: "+text(err))
		}
		if err == nil && next.id != of.id {
			next.close()
		} else if err == nil {
			c.cut()
			c, v.joined, home.joined = next, true, true
		}
	}
	c.close()
}

// lagLook is the pause between two looks whether a server has applied a commit.
const lagLook = 10 * time.Millisecond

// askLag commits at one server, and finds out when the others have applied that.
func (f *Facts) askLag(ctx context.Context) {
	up := f.answering()
	if len(up) < 2 {
		return
	}
	first := slices.IndexFunc(up, func(v *Server) bool { return v.Role == roleLeader })
	home := up[max(first, 0)]
	c, err := f.settings.openLoggedIn(ctx, home.Address) // a new session is a commit
	if err != nil {
		return
	}
	defer c.close()
	begun := time.Now()
	if _, _, err := c.request(opExists, root()); err != nil {
		return
	}
	var wait sync.WaitGroup
	for _, v := range up {
		if v != home {
			wait.Go(func() { v.awaitZxid(ctx, c.zxid, begun, f.settings.Step) })
		}
	}
	wait.Wait()
}

// awaitZxid looks whether the server has applied a transaction, as long as a step may take.
func (v *Server) awaitZxid(ctx context.Context, zxid int64, begun time.Time, most time.Duration) {
	look := time.NewTicker(lagLook)
	defer look.Stop()
	for ctx.Err() == nil {
		if _, _, err := v.kept.request(opExists, root()); err != nil {
			return
		}
		took := time.Since(begun)
		if v.kept.zxid >= zxid {
			lag := Millis(took)
			v.Lag = &lag
			return
		}
		if v.behind = took > most; v.behind {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
}

// resolveAgain looks the names of the servers up once more.
func (f *Facts) resolveAgain(ctx context.Context) {
	for _, v := range f.servers {
		host, _, err := net.SplitHostPort(v.Address)
		if err != nil || net.ParseIP(host) != nil || len(v.Resolved) == 0 || ctx.Err() != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, f.settings.Step)
		if again, err := f.settings.LookUp(ctx, host); err == nil {
			v.again = again
			slices.Sort(v.again)
		}
		cancel()
	}
}

// close ends the sessions that were kept.
func (f *Facts) close() {
	var wait sync.WaitGroup
	for _, v := range f.servers {
		if v.kept != nil {
			wait.Go(v.kept.close)
		}
	}
	wait.Wait()
}
