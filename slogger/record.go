package slogger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
)

// maxDepth is how deep a line may be nested. What is deeper is passed on as text.
const maxDepth = 100

// Why a line is passed on as text.
var (
	errNotObject = errors.New("slogger: the line is not a JSON object")
	errDeep      = fmt.Errorf("slogger: the line is nested more than %d deep", maxDepth)
)

// record returns a line of zerolog's as slog has it. It keeps nothing of the line, whose
// memory zerolog uses again.
func record(level zerolog.Level, line []byte) slog.Record {
	attrs, err := parse(line)
	if err != nil {
		return slog.NewRecord(time.Now(), slogLevel(level), strings.TrimSuffix(string(line), "\n"), 0)
	}
	// zerolog writes the level first, and the message last.
	if len(attrs) > 0 && level != zerolog.NoLevel && attrs[0].Key == zerolog.LevelFieldName {
		attrs = attrs[1:]
	}
	message := ""
	if last := len(attrs) - 1; last >= 0 && attrs[last].Key == zerolog.MessageFieldName &&
		attrs[last].Value.Kind() == slog.KindString {
		message, attrs = attrs[last].Value.String(), attrs[:last]
	}
	at, attrs := takeTime(attrs)
	r := slog.NewRecord(at, slogLevel(level), message, 0)
	r.AddAttrs(attrs...)
	return r
}

// takeTime returns the time that the line has, and the other attributes. Without one it
// returns the time now, and all of them.
func takeTime(attrs []slog.Attr) (time.Time, []slog.Attr) {
	for i := len(attrs) - 1; i >= 0; i-- {
		if attrs[i].Key != zerolog.TimestampFieldName {
			continue
		}
		if at, ok := parseTime(attrs[i].Value); ok {
			return at, append(attrs[:i], attrs[i+1:]...)
		}
	}
	return time.Now(), attrs
}

// parseTime reads a time in the format in which zerolog writes times.
func parseTime(v slog.Value) (time.Time, bool) {
	switch v.Kind() {
	case slog.KindString:
		for _, format := range []string{zerolog.TimeFieldFormat, time.RFC3339Nano} {
			if at, _ := time.Parse(format, v.String()); !at.IsZero() { // it is zero if the format is another
				return at, true
			}
		}
	case slog.KindInt64:
		switch n := v.Int64(); zerolog.TimeFieldFormat {
		case zerolog.TimeFormatUnix:
			return time.Unix(n, 0), true
		case zerolog.TimeFormatUnixMs:
			return time.UnixMilli(n), true
		case zerolog.TimeFormatUnixMicro:
			return time.UnixMicro(n), true
		case zerolog.TimeFormatUnixNano:
			return time.Unix(0, n), true
		}
	}
	return time.Time{}, false
}

// parse returns the members of a JSON object, in order.
func parse(line []byte) ([]slog.Attr, error) {
	if !json.Valid(line) {
		return nil, errNotObject
	}
	p := &parser{json.NewDecoder(bytes.NewReader(line))}
	p.UseNumber()
	if first, err := p.Token(); err != nil || first != json.Delim('{') {
		return nil, errNotObject
	}
	return p.members(1)
}

// parser reads valid JSON, in which no token is wrong.
type parser struct{ *json.Decoder }

// members reads an object up to its end, after its opening brace.
func (p *parser) members(depth int) ([]slog.Attr, error) {
	var attrs []slog.Attr
	for p.More() {
		key, _ := p.Token()
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		attrs = append(attrs, slog.Attr{Key: key.(string), Value: v})
	}
	_, _ = p.Token()
	return attrs, nil
}

// elements reads an array up to its end, after its opening bracket.
func (p *parser) elements(depth int) ([]any, error) {
	all := []any{}
	for p.More() {
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		all = append(all, plain(v))
	}
	_, _ = p.Token()
	return all, nil
}

// value reads any value.
func (p *parser) value(depth int) (slog.Value, error) {
	if depth > maxDepth {
		return slog.Value{}, errDeep
	}
	token, _ := p.Token()
	switch token := token.(type) {
	case json.Number:
		return number(token.String()), nil
	case json.Delim:
		if token == '[' {
			all, err := p.elements(depth + 1)
			return slog.AnyValue(all), err
		}
		attrs, err := p.members(depth + 1)
		if len(attrs) == 0 { // handlers ignore an empty group
			return slog.AnyValue(map[string]any{}), err
		}
		return slog.GroupValue(attrs...), nil
	}
	return slog.AnyValue(token), nil // a string, a bool or nil
}

// number returns a number without loss: session ids need all 64 bits.
func number(text string) slog.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return slog.Int64Value(n)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return slog.Uint64Value(n)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return slog.Float64Value(f)
	}
	return slog.StringValue(text)
}

// plain returns a value as an array has it: a group is a map.
func plain(v slog.Value) any {
	if v.Kind() != slog.KindGroup {
		return v.Any()
	}
	m := map[string]any{}
	for _, a := range v.Group() {
		m[a.Key] = plain(a.Value)
	}
	return m
}
