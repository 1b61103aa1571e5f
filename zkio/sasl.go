package zkio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/usercode"
)

// transient is an error of a mechanism that is no refusal.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

// SASLTransient returns an error for a Mechanism: the login failed for a reason that may pass, such as a KDC that does
// not answer. It has the text of err.
func SASLTransient(err error) error {
	if err == nil {
		return nil
	}
	return transient{err}
}

// maxTokens is how many tokens a login may take. Those of ZooKeeper's servers take three at most.
const maxTokens = 16

// login is the login of one connection.
type login struct {
	exchange SASLExchange
	token    []byte // to be sent
}

// checkSASL returns the name of the mechanism, "" if there is none, or what is wrong with it.
func (c Config) checkSASL() (name string, err error) {
	if c.SASL == nil {
		return "", nil
	}
	err = guarded("the mechanism of Config.SASL", func() error { name = c.SASL.Name(); return nil })
	return events.Foreign(name, events.MaxPath), err
}

// maxMechanismCalls is how many calls of a mechanism may run. One is needed: the others were given up, and have not
// returned. Each keeps a goroutine.
const maxMechanismCalls = 8

// callMechanism calls a function of the mechanism, which gets as long as the context. Its error is a refusal, or one
// that ends only the connection, and wraps none of the mechanism's: a timeout of a KDC is not one of the server.
func callMechanism[T any](ctx context.Context, s *session, f func() (T, error)) (result T, err error) {
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	if s.a.mechanismCalls.Add(1) > maxMechanismCalls {
		s.a.mechanismCalls.Add(-1)
		return result, errors.New(s.loginText(fmt.Sprintf("does not begin: %d of its calls have not returned",
			maxMechanismCalls)))
	}
	s.a.work.Go(func() { // tracked: Close waits for it, as long as its own context lasts
		defer s.a.mechanismCalls.Add(-1)
		var o outcome
		usercode.Run(func() (err error) { o.result, err = f(); return err }, func(err error) {
			o.err = named("the mechanism", err)
			done <- o
		})
	})
	select {
	case o := <-done:
		result, err = o.result, o.err
	case <-ctx.Done():
		err = errors.New("there was no time left for it")
	}
	var passing transient
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &passing) || ctx.Err() != nil:
		return result, errors.New(s.loginText("failed, and is tried again: " + err.Error()))
	}
	return result, s.loginRefused("failed: " + err.Error())
}

// loginRefused returns the error of a refused login, with which the session can end: see session.refuse.
func (s *session) loginRefused(why string) error { return refusal{events.AuthFailed, s.loginText(why)} }

func (s *session) loginText(what string) string {
	return events.Foreign(strings.TrimSpace("the SASL login by "+s.a.mechanism+" "+what), events.MaxText)
}

// startLogin has the mechanism begin the login of a connection. It returns nil if there is no mechanism.
func (s *session) startLogin(ctx context.Context, t *target, conn net.Conn) (*login, error) {
	if s.a.cfg.SASL == nil {
		return nil, nil
	}
	server := SASLServer{Host: t.host, Port: t.port, Address: remoteAddress(conn)}
	begun, err := callMechanism(ctx, s, func() (*login, error) {
		exchange, token, err := s.a.cfg.SASL.Start(ctx, server)
		if err == nil && isNil(exchange) {
			err = errors.New("its Start returned neither an exchange nor an error")
		}
		return &login{exchange, token}, err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.server, err)
	}
	return begun, nil
}

// logIn sends tokens, and answers those of the server, until the mechanism is done. The answer to the last token says
// whether the server has accepted it.
func (w *wire) logIn() error {
	if w.sasl == nil {
		return nil
	}
	ctx, cancel := context.WithDeadline(w.s.ctx, w.deadline)
	defer cancel()
	for xid := int32(1); xid <= maxTokens; xid++ { // the keeper sends nothing yet: all numbers are free
		reply, err := w.sendToken(xid)
		if err != nil {
			return err
		}
		if done, err := w.nextToken(ctx, reply); done || err != nil {
			return err
		}
	}
	return w.s.loginRefused(fmt.Sprintf("did not end after %d tokens", maxTokens))
}

// sendToken sends the token, and returns the server's. The zxid of the answer is 0, and would not be noted: it is no
// state that this client has seen, and watch events before it are still to come.
func (w *wire) sendToken(xid int32) ([]byte, error) {
	_, a, err := w.exchange(newFrame(xid, opSASL).Bytes(w.sasl.token).Finish(), xid)
	if err != nil {
		w.loggingIn = true
		return nil, err
	}
	switch c, text := code(a.code); {
	case a.code == 0:
	case c == events.AuthFailed, c == events.RequiresSASL, c == events.Unimplemented, c == events.ServerError:
		return nil, w.s.loginRefused(fmt.Sprintf("was refused by the server (%s%s): check the user and the password "+
			"(or ticket); the servers' log says why", c, withColon(text)))
	default: // such as THROTTLEDOP, or SESSIONMOVED: they say nothing of the login
		return nil, errors.New(w.s.loginText(fmt.Sprintf("failed, and is tried again: the server answered with %s", c)))
	}
	reply := a.body.Bytes()
	if a.body.Bad {
		return nil, errProtocol
	}
	return reply, nil
}

// nextToken has the mechanism answer a token of the server.
func (w *wire) nextToken(ctx context.Context, reply []byte) (done bool, err error) {
	type step struct {
		token []byte
		done  bool
	}
	next, err := callMechanism(ctx, w.s, func() (step, error) {
		token, done, err := w.sasl.exchange.Next(ctx, reply)
		return step{token, done}, err
	})
	w.sasl.token = next.token
	return next.done, err
}
