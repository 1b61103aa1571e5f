package engine

import (
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// Lift returns rows about a part of a model as rows about the model, so that models can
// share a table. Guards and actions keep the names that they have in the part.
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

// symbol has what the linker knows about a function: its full name, and its address. It is empty if there is no
// function.
type symbol struct {
	name string
	pc   uintptr
}

// symbols has the symbols of a row's functions.
type symbols struct{ when, do, then symbol }

// symbols returns the symbols of the row's own functions or, if the row was lifted, of
// the part's functions: to the linker, the functions that Lift makes are closures.
func (r Row[M]) symbols() symbols {
	if r.lifted != (symbols{}) {
		return r.lifted
	}
	return symbols{symbolOf(r.When), symbolOf(r.Do), symbolOf(r.Then)}
}

func symbolOf(f any) symbol {
	v := reflect.ValueOf(f)
	if v.IsNil() {
		return symbol{}
	}
	return symbol{runtime.FuncForPC(v.Pointer()).Name(), v.Pointer()}
}

// place returns where the function is declared; "" if there is none.
func (s symbol) place() string {
	if s.pc == 0 {
		return ""
	}
	return place(runtime.FuncForPC(s.pc).FileLine(s.pc))
}

// last returns the part of the name that is drawn.
func (s symbol) last() string { return s.name[strings.LastIndexByte(s.name, '.')+1:] }
