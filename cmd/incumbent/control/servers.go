package control

import (
	"net/http"
	"strconv"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Servers are what a control server controls: one standalone server, or the members of an ensemble.
type Servers struct {
	all      []*zkmem.Server
	ensemble *zkmem.Ensemble // nil for a standalone server
}

// Standalone returns a server that is no member of an ensemble.
func Standalone(s *zkmem.Server) Servers { return Servers{all: []*zkmem.Server{s}} }

// Members returns the members of an ensemble, whose numbers begin with 1.
func Members(e *zkmem.Ensemble) Servers { return Servers{all: e.Servers(), ensemble: e} }

// numbered returns the server that a request names by its number.
func (s Servers) numbered(number int) (*zkmem.Server, error) {
	switch {
	case s.ensemble == nil:
		return nil, refuse(http.StatusBadRequest,
			"server is %d: this is one standalone server, which has no number", number)
	case number < 1 || number > len(s.all):
		return nil, refuse(http.StatusNotFound, "there is no server %d: the ensemble has 1 to %d", number, len(s.all))
	}
	return s.all[number-1], nil
}

// chosen returns the server that a request names, or all if it names none.
func (s Servers) chosen(a ask) ([]*zkmem.Server, error) {
	if a.Server == nil {
		return s.all, nil
	}
	srv, err := s.numbered(*a.Server)
	return []*zkmem.Server{srv}, err
}

// queried returns the number in the query of a GET, 0 for none.
func (s Servers) queried(r *http.Request) (int, error) {
	text := r.URL.Query().Get("server")
	if text == "" {
		return 0, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		return 0, refuse(http.StatusBadRequest, "server is %q: want the number of a server", text)
	}
	_, err = s.numbered(number)
	return number, err
}

// reader returns the server whose data a GET shows: the one that it names, or the ensemble's leader.
func (s Servers) reader(r *http.Request) (*zkmem.Server, error) {
	number, err := s.queried(r)
	switch {
	case err != nil:
		return nil, err
	case number > 0:
		return s.all[number-1], nil
	case s.ensemble == nil:
		return s.all[0], nil
	}
	if leader := s.ensemble.Leader(); leader != nil {
		return leader, nil
	}
	return nil, refuse(http.StatusConflict, "no server leads: name one, as in ?server=1")
}

// number returns that of a member, 0 for nil and for a standalone server.
func (s Servers) number(srv *zkmem.Server) int {
	for i, member := range s.all {
		if s.ensemble != nil && member == srv {
			return i + 1
		}
	}
	return 0
}

// member has a fault of one member as a route. What the member cannot have in its present state is a conflict.
func member(do func(*handler, *zkmem.Server, ask) error) func(*handler, *http.Request, ask) (any, error) {
	return func(h *handler, _ *http.Request, a ask) (any, error) {
		if a.Server == nil {
			return nil, refuse(http.StatusBadRequest,
				"server is missing: want the number of a server, 1 to %d", len(h.servers.all))
		}
		srv, err := h.servers.numbered(*a.Server)
		if err != nil {
			return nil, err
		}
		return done, conflict(do(h, srv, a))
	}
}

// conflict returns an error of the ensemble with its status.
func conflict(err error) error {
	if _, known := err.(refusal); err == nil || known {
		return err
	}
	return refuse(http.StatusConflict, "%v", err)
}

// faults are the routes that only an ensemble has.
func faults() map[string]route {
	const one = "server"
	simple := func(do func(*zkmem.Ensemble, *zkmem.Server) error) route {
		return route{method: http.MethodPost, fields: one, ensemble: true,
			do: member(func(h *handler, srv *zkmem.Server, _ ask) error { return do(h.servers.ensemble, srv) })}
	}
	return map[string]route{
		"/v1/isolate":   simple((*zkmem.Ensemble).Isolate),
		"/v1/reconnect": simple((*zkmem.Ensemble).Reconnect),
		"/v1/pause":     simple((*zkmem.Ensemble).Freeze),
		"/v1/resume":    simple((*zkmem.Ensemble).Thaw),
		"/v1/remove":    simple((*zkmem.Ensemble).Remove),
		"/v1/add":       simple((*zkmem.Ensemble).Add),
		"/v1/lag":       {method: http.MethodPost, fields: "server delay", ensemble: true, do: member((*handler).lag)},
		"/v1/depose":    {method: http.MethodPost, ensemble: true, do: (*handler).depose},
	}
}

// lag has a follower apply transactions later, or again at once with a delay of "0s".
func (h *handler) lag(srv *zkmem.Server, a ask) error {
	delay := zkmem.Forever
	if a.Delay != "forever" {
		var ok bool
		if delay, ok = parseDelay(a.Delay); !ok {
			return refuse(http.StatusBadRequest,
				`delay is %q: want a time of at most an hour, such as "2s", "forever", or "0s" to end it`, a.Delay)
		}
	}
	return h.servers.ensemble.Lag(srv, delay)
}

// depose has the others elect another leader, and answers with the numbers of both.
func (h *handler) depose(*http.Request, ask) (any, error) {
	deposed, leader, err := h.servers.ensemble.Depose()
	if err != nil {
		return nil, conflict(err)
	}
	return map[string]any{"deposed": h.servers.number(deposed), "leader": h.servers.number(leader)}, nil
}
