package engine

import (
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// Lift turns rows about a part of a model into rows about the model, so that a
// table that several models share is written once. Guards and actions keep the
// names that they have in the part.
func Lift[M, P any](rows []Row[P], part func(*M) *P) []Row[M] {
	lifted := make([]Row[M], len(rows))
	for i, r := range rows {
		lifted[i] = Row[M]{
			From: slices.Clone(r.From), On: r.On, When: liftGuard(r.When, part), To: r.To,
			Do: liftAction(r.Do, part), Then: liftAction(r.Then, part), lifted: r.symbols(),
		}
	}
	return lifted
}

func liftGuard[M, P any](holds Guard[P], part func(*M) *P) Guard[M] {
	if holds == nil {
		return nil
	}
	return func(m *M, ev events.Event) bool { return holds(part(m), ev) }
}

func liftAction[M, P any](do Action[P], part func(*M) *P) Action[M] {
	if do == nil {
		return nil
	}
	return func(m *M, ev events.Event, out *Outbox) { do(part(m), ev, out) }
}

// symbols are the full names of a row's functions, as the linker knows them; ""
// where there is none.
type symbols struct{ when, do, then string }

// symbols are those of the row's own functions, or of the part's functions that it
// was lifted from: to the linker, what Lift makes is a closure.
func (r Row[M]) symbols() symbols {
	if r.lifted != (symbols{}) {
		return r.lifted
	}
	return symbols{symbolOf(r.When), symbolOf(r.Do), symbolOf(r.Then)}
}

// actions are what the row does, in order, by their symbols.
func (r Row[M]) actions() (all []act[M]) {
	s := r.symbols()
	for _, a := range []act[M]{{s.do, r.Do}, {s.then, r.Then}} {
		if a.do != nil {
			all = append(all, a)
		}
	}
	return all
}

func symbolOf(f any) string {
	if v := reflect.ValueOf(f); !v.IsNil() {
		return runtime.FuncForPC(v.Pointer()).Name()
	}
	return ""
}

// lastPart is the part of a symbol that is drawn.
func lastPart(symbol string) string { return symbol[strings.LastIndexByte(symbol, '.')+1:] }
