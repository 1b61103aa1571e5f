package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"path"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// longest is the longest session timeout of the protocol. A server grants its maxSessionTimeout for it.
const longest = math.MaxInt32 * time.Millisecond

// ask asks one server everything that needs no other server. It keeps a session open if the server serves.
func (v *Server) ask(ctx context.Context, s *Settings) {
	v.resolve(ctx, s)
	err := v.askWords(ctx, s)
	if err == nil {
		v.askAdmin(ctx, s)
		err = v.askSession(ctx, s)
	}
	if err != nil {
		v.Why, v.failed, v.cut = text(err), err, isCut(err)
		v.noteEnded(err)
		return
	}
	if v.askGrants(ctx, s); v.mute {
		return
	}
	v.askNodes(s)
}

// text returns an error as it is printed: its text may be others'.
func text(err error) string { return events.Foreign(err.Error(), events.MaxText) }

func (v *Server) resolve(ctx context.Context, s *Settings) {
	host, _, err := net.SplitHostPort(v.Address)
	if err != nil {
		return
	}
	if net.ParseIP(host) != nil {
		v.Resolved = []string{host}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.Step)
	defer cancel()
	if v.Resolved, err = s.LookUp(ctx, host); err == nil {
		slices.Sort(v.Resolved)
	}
}

// askWords asks the four-letter words. Its error says that the server cannot be connected to. A server that is silent
// is asked for one word only.
func (v *Server) askWords(ctx context.Context, s *Settings) error {
	conn, err := s.dialSeen(ctx, v.Address, v.noteCertificate)
	if err != nil {
		return err
	}
	_ = conn.Close() // it was only to see whether the server can be reached
	for _, w := range []struct {
		name string
		read func(string)
	}{{"srvr", v.readSrvr}, {"conf", v.readConf}, {"mntr", v.readMntr}} {
		answer, err := s.word(ctx, v.Address, w.name)
		if isCut(err) {
			break
		}
		if answer == "" {
			v.silentWords = append(v.silentWords, w.name)
		}
		if err != nil && silent(err) {
			break
		}
		w.read(answer)
	}
	return nil
}

// askSession opens the session for which the server grants what a client asks for, then the one that is kept.
func (v *Server) askSession(ctx context.Context, s *Settings) error {
	c, err := s.open(ctx, v.Address, s.Timeout, identity{}, false)
	var ended notOpened
	if errors.As(err, &ended) {
		if only, failed := s.open(ctx, v.Address, s.Timeout, identity{}, true); failed == nil {
			defer only.close()
			if only.readOnly {
				v.Role = roleReadOnly
				return errors.New("it is cut off from its ensemble, and serves only those who ask for a " +
					"read-only server")
			}
		}
	}
	if err != nil {
		return err
	}
	v.Granted = &Granted{Asked: Millis(c.granted)}
	if v.refused = c.logIn(ctx, v.Address); v.refused != nil {
		c.close()
		if login := (refusedLogin{}); errors.As(v.refused, &login) {
			return v.refused
		}
	} else {
		c.close()
	}
	if v.kept, err = s.open(ctx, v.Address, longest, identity{}, false); err != nil {
		return err
	}
	if err := v.kept.logIn(ctx, v.Address); err != nil {
		v.kept.close()
		v.kept = nil
		return err
	}
	v.Granted.Most = Millis(v.kept.granted)
	_, _, err = v.kept.request(opExists, root())
	if v.mute = err != nil; v.mute {
		v.kept.cut()
		v.kept = nil
	}
	if login := (refusedLogin{}); errors.As(err, &login) {
		v.refused = err
	}
	if v.refused != nil || isCut(err) {
		return err
	}
	v.Serves = true
	return nil
}

// askGrants asks for the shortest session timeout.
func (v *Server) askGrants(ctx context.Context, s *Settings) {
	c, err := s.open(ctx, v.Address, time.Millisecond, identity{}, false)
	if err != nil {
		v.grantsErr = text(err)
		return
	}
	v.Granted.Least = Millis(c.granted)
	c.close()
}

// syncs is how many syncs are timed.
const syncs = 5

// askNodes reads the ensemble's configuration, looks for the chroot, and times syncs.
func (v *Server) askNodes(s *Settings) {
	b, code, err := v.kept.request(opGetData, about("/zookeeper/config").Bool(false))
	switch {
	case err != nil:
		v.configErr = text(err)
	case code != codeOK:
		v.configErr = refusal(code)
	default:
		v.config = b.Text()
	}
	if s.Chroot != "" {
		_, code, err := v.kept.request(opExists, about(s.Chroot).Bool(false))
		v.noChroot = err == nil && code == codeNoNode
	}
	var all []time.Duration
	for range syncs {
		begun := time.Now()
		if _, code, err := v.kept.request(opSync, about(path.Join("/", s.Chroot))); err != nil || code != codeOK {
			return
		}
		all = append(all, time.Since(begun))
	}
	slices.Sort(all)
	median := Millis(all[len(all)/2])
	v.Sync = &median
}

// refusal names the code of an answer.
func refusal(code int32) string {
	switch code {
	case codeNoNode:
		return "there is no such node"
	case codeNoAuth:
		return "this client may not read it"
	}
	return fmt.Sprintf("the server answered with code %d", code)
}
