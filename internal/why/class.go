package why

import (
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// class returns the class of a machine's state.
func (l *Log) class(id events.ID, state string) events.Class {
	recipe, _, _ := strings.Cut(string(id), "-") // also of a machine that another one has opened: latch-jobelection-1-1
	of := [2]string{recipe, state}
	class, known := l.classes[of]
	if !known {
		if l.classes == nil {
			l.classes = map[[2]string]events.Class{}
		}
		class = machines.ClassOf(recipe, state)
		l.classes[of] = class
	}
	return class
}
