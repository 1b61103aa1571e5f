package events

import (
	"cmp"
	"slices"
)

// Effects are what one step of a machine asked for, in order. They are equal if their
// words are.
type Effects []Effect

// Strings returns the effects in words, nil for none.
func (e Effects) Strings() []string {
	if len(e) == 0 {
		return nil
	}
	all := make([]string, len(e))
	for i, effect := range e {
		all[i] = effect.String()
	}
	return all
}

// Facts returns what Record has of effects as values: the last deadline, and the first reason
// for the end of belief.
func (e Effects) Facts() (deadline int64, reason Reason) {
	for _, effect := range e {
		switch effect := effect.(type) {
		case Deadline:
			deadline = effect.Until
		case Notify:
			reason = cmp.Or(reason, effect.Reason)
		}
	}
	return deadline, reason
}

func (e Effects) equal(o Effects) bool {
	return slices.EqualFunc(e, o, func(a, b Effect) bool { return a.String() == b.String() })
}
