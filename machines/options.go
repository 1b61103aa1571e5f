package machines

import (
	"fmt"
	"strconv"
	"time"
)

// options reads the string values of a command.open event, and keeps the first bad one as its error.
type options struct {
	values map[string]string
	err    error
}

// option returns the parsed value of one option, or fallback if it is not set.
func option[T any](o *options, name string, fallback T, parse func(string) (T, error)) T {
	s, ok := o.values[name]
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

// jitter returns the random part of pauses. With the option "noJitter" it is always zero: a search
// through all states wants timers of one purpose to have one length.
func (o *options) jitter(seed string) jitter {
	if o.flag("noJitter") {
		return jitter{}
	}
	return newJitter(seed)
}

func (o *options) policy(name string, fallback Policy) Policy {
	return option(o, name, fallback, ParsePolicy)
}
