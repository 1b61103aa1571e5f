// Package slogger connects incumbent.Config.Logger to log/slog, for programs that do not
// use zerolog themselves:
//
//	incumbent.Config{Servers: servers, Logger: slogger.New(slog.Default().Handler())}
//
// The package keeps its API from version 1 of the module on, which is not published yet.
package slogger

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/rs/zerolog"
)

// New returns a logger whose lines go to h. Each line becomes one slog.Record: its message,
// its level, and its fields as attributes in the same order.
//
//   - trace is slog.LevelDebug-4; debug, info, warn and error are slog's own; fatal and
//     panic are slog.LevelError+4; a line without a level is slog.LevelInfo.
//   - Whole numbers are int64, or uint64 above its range. Other numbers are float64. A number
//     that fits none of them is its text. Objects are groups. An empty object is an empty map.
//   - An array is a []any, and an object in it a map[string]any.
//   - An error is its text, under the key "error".
//   - The record's time is the line's, if it has one (zerolog's With().Timestamp()); else it
//     is the time at which the line reaches h.
//   - A line that is not a JSON object, or is nested more than 100 deep, is passed on as the
//     message. This holds for all lines of a program built with zerolog's tag binary_log.
//
// h.Enabled is asked at each line, so a slog.LevelVar may change at run time. If it reports
// false, the line's fields are not encoded. h gets context.Background, and may be called
// from several goroutines. A client calls it from one goroutine of its own, so a slow handler
// delays only the log. Lines that wait for it are kept in memory.
//
// If h returns an error or panics, the line is lost: zerolog passes the reason to
// zerolog.ErrorHandler, or prints it to standard error if there is none. New panics if h
// is nil, as slog.New does.
func New(h slog.Handler) zerolog.Logger {
	if h == nil {
		panic("slogger: New: the slog.Handler is nil: give one, such as slog.Default().Handler()")
	}
	out := &writer{handler: h}
	return zerolog.New(out).Sample(out)
}

// writer is what the zerolog.Logger writes to, and asks before it encodes a line.
type writer struct{ handler slog.Handler }

// Sample reports whether the handler wants lines of this level. A handler that panics gets
// the line, so that WriteLevel reports the panic.
func (w *writer) Sample(level zerolog.Level) (wanted bool) {
	defer func() {
		if recover() != nil {
			wanted = true
		}
	}()
	return w.handler.Enabled(context.Background(), slogLevel(level))
}

// Write passes on a line without a level.
func (w *writer) Write(line []byte) (int, error) { return w.WriteLevel(zerolog.NoLevel, line) }

// WriteLevel passes a line on to the handler. It asks Enabled again, because zerolog does
// not call Sample after zerolog.DisableSampling.
func (w *writer) WriteLevel(level zerolog.Level, line []byte) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, fmt.Errorf("slogger: the slog.Handler panicked, and a line is lost: %v\n%s", p, debug.Stack())
		}
	}()
	ctx, to := context.Background(), slogLevel(level)
	if !w.handler.Enabled(ctx, to) {
		return len(line), nil
	}
	if err := w.handler.Handle(ctx, record(level, line)); err != nil {
		return 0, fmt.Errorf("slogger: the slog.Handler refused a line, which is lost: %w", err)
	}
	return len(line), nil
}

// slogLevel returns slog's level for one of zerolog's. zerolog's are one apart, slog's four.
func slogLevel(level zerolog.Level) slog.Level {
	if level == zerolog.NoLevel {
		return slog.LevelInfo
	}
	return slog.LevelInfo + 4*slog.Level(min(level, zerolog.FatalLevel)-zerolog.InfoLevel)
}
