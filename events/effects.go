package events

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Effects are what one step of a machine asked for, in order. They are equal if their
// written forms are.
type Effects []Effect

// Written is an effect that was read from a log: its written form is all that is known.
type Written string

func (w Written) String() string { return string(w) }

// Strings returns the written forms, nil for none.
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

// WrittenEffects returns effects with these written forms.
func WrittenEffects(forms ...string) Effects {
	if len(forms) == 0 {
		return nil
	}
	all := make(Effects, len(forms))
	for i, form := range forms {
		all[i] = Written(form)
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

// MarshalJSON returns the written forms as an array of strings.
func (e Effects) MarshalJSON() ([]byte, error) { return json.Marshal(e.Strings()) }

// UnmarshalJSON reads an array of written forms.
func (e *Effects) UnmarshalJSON(b []byte) error {
	var forms []string
	if err := json.Unmarshal(b, &forms); err != nil {
		return err
	}
	*e = WrittenEffects(forms...)
	return nil
}
