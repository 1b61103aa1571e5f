package machines

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// options reads the string values of an event. It keeps the first bad one as its error, and which of them were read.
type options struct {
	recipe string
	values map[string]string
	read   []string // the names of the values that were read
	err    error
}

// optionsOf returns the options of a command.open event.
func optionsOf(open events.Event) options {
	return options{recipe: open.Recipe, values: open.Options, read: make([]string, 0, len(open.Options))}
}

// check returns what is wrong with the options. A name that nothing has read is wrong: what was meant would be off,
// and nobody would notice. It is called when all have been read.
func (o *options) check() error {
	if len(o.read) < len(o.values) {
		for _, name := range slices.Sorted(maps.Keys(o.values)) {
			if !slices.Contains(o.read, name) {
				return fmt.Errorf("a %s has no option %q", o.recipe, name)
			}
		}
	}
	return o.err
}

// given returns the value of one option, and whether it is set.
func (o *options) given(name string) (string, bool) {
	s, ok := o.values[name]
	if ok && !slices.Contains(o.read, name) {
		o.read = append(o.read, name)
	}
	return s, ok
}

// option returns the parsed value of one option, or fallback if it is not set.
func option[T any](o *options, name string, fallback T, parse func(string) (T, error)) T {
	s, ok := o.given(name)
	if !ok {
		return fallback
	}
	v, err := parse(s)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("option %s=%q: %w", name, s, err)
	}
	return v
}

func (o *options) duration(name string, fallback time.Duration) time.Duration {
	return option(o, name, fallback, time.ParseDuration)
}

func (o *options) integer(name string, fallback int) int {
	return option(o, name, fallback, strconv.Atoi)
}

func (o *options) number(name string) int64 {
	return option(o, name, 0, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
}

func (o *options) text(name, fallback string) string {
	return option(o, name, fallback, func(s string) (string, error) { return s, nil })
}

func (o *options) flag(name string) bool {
	return option(o, name, false, strconv.ParseBool)
}

// jitter returns the random part of pauses. With OptionNoJitter it is always zero: a search through all states wants
// timers of one purpose to have one length.
func (o *options) jitter(seed string) jitter {
	if o.flag(OptionNoJitter) {
		return jitter{}
	}
	return newJitter(seed)
}

func (o *options) policy(name string, fallback Policy) Policy {
	return option(o, name, fallback, ParsePolicy)
}
