package incumbent

import (
	"fmt"
	"runtime/debug"

	"github.com/rs/zerolog"
)

// logger writes to zerolog from a goroutine of its own: a slow sink does not delay the
// loop.
type logger struct {
	mail mailbox
	out  zerolog.Logger
	off  bool
}

func newLogger(out zerolog.Logger) *logger {
	return &logger{out: out, off: out.GetLevel() == zerolog.Disabled}
}

// log logs a line; fields may be nil. It never blocks.
func (l *logger) log(level zerolog.Level, text string, fields func(*zerolog.Event)) {
	if l.off {
		return
	}
	l.mail.put(func() {
		e := l.out.WithLevel(level)
		if fields != nil {
			fields(e)
		}
		e.Msg(text)
	})
}

// guard calls a user's function. A panic becomes its error, and is logged.
func (l *logger) guard(what, path string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			stack := debug.Stack()
			l.log(zerolog.ErrorLevel, what+" panicked", func(e *zerolog.Event) {
				e.Str("path", path).Interface("panic", p).Bytes("stack", stack)
			})
		}
	}()
	return f()
}

// logPanic returns a function that logs a listener's panic.
func (l *logger) logPanic(where string) func(any) {
	return func(p any) {
		l.log(zerolog.ErrorLevel, "a listener panicked", func(e *zerolog.Event) { e.Str("where", where).Interface("panic", p) })
	}
}
