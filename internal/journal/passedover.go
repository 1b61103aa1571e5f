package journal

import (
	"strings"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// PassedOver has what the log says once of children that a line passes over. Only the loop uses it.
type PassedOver map[string]bool // by directory and kind of name

// maxPassedOver is how many lines the log has about such children, and maxPassedOverName how many bytes of a name they
// have.
const (
	maxPassedOver     = 1000
	maxPassedOverName = 128
)

// Log logs children that a line passes over, once for each directory and kind of name: in somebody else's
// layout they may be in that line. Places of plain elections with these prefixes are not logged. On the loop's
// goroutine.
func (p *PassedOver) Log(l *Logger, n events.Notify, prefixes ...string) {
	for _, name := range n.Names {
		if _, known := machines.ParsePlace(name, prefixes...); known {
			continue
		}
		kind := n.Path + "/" + machines.NameKind(name)
		if (*p)[kind] || len(*p) >= maxPassedOver {
			continue
		}
		if *p == nil {
			*p = PassedOver{}
		}
		(*p)[strings.Clone(kind)] = true
		level, hint := zerolog.InfoLevel, ""
		if mayQueue(name) {
			level, hint = zerolog.WarnLevel, passedOverHint
		}
		l.Log(level, "passed over", func(e *zerolog.Event) {
			e.Str("path", fault.Path(n.Path)).Str("child", events.Foreign(name, maxPassedOverName))
			if hint != "" {
				e.Str("hint", hint)
			}
		})
	}
}

// passedOverHint says what a sequential node that is passed over may mean.
const passedOverHint = "if this is a participant of the same election or lock, it and this client do not wait for " +
	"each other: all have to use one kind of name (the recipe, Prefix, Plain and Kazoo decide)"

// mayQueue reports whether a name may be that of a participant in the line, in a layout that this client does not know
// or does not use. Latches and permits are in lines of their own.
func mayQueue(name string) bool {
	_, _, sequential := machines.CutNumber(name)
	_, ofOther := machines.ParsePlace(name, machines.LatchLabel, machines.LeaseLabel)
	return sequential && !ofOther
}
