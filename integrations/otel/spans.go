// Package otel gives the terms of a client to OpenTelemetry as spans, and its Stats as metrics. It may change
// in any release.
package otel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/incumbent-go/incumbent"
)

const scope = "github.com/incumbent-go/incumbent/integrations/otel"

// Spans makes a span of each term of leadership. Give its Observe to incumbent.Config. A Spans is for one
// client.
type Spans struct {
	tracer trace.Tracer

	mu   sync.Mutex
	open map[int64]trace.Span         // of terms, by token
	last map[string]trace.SpanContext // of the term before, by path
}

// maxLast is how many paths have a link from one term to the next.
const maxLast = 1000

// NewSpans returns a Spans. The error says that there is no provider.
func NewSpans(p trace.TracerProvider) (*Spans, error) {
	if p == nil {
		return nil, errors.New("otel: the tracer provider is nil: otel.GetTracerProvider() will do")
	}
	return &Spans{tracer: p.Tracer(scope), open: map[int64]trace.Span{}, last: map[string]trace.SpanContext{}}, nil
}

// span returns the span of a term, which begins if it is the first to ask. The caller holds the lock.
func (s *Spans) span(token int64, name string, o ...trace.SpanStartOption) trace.Span {
	span := s.open[token]
	if span == nil {
		_, span = s.tracer.Start(context.Background(), name, append(o, trace.WithNewRoot())...)
		s.open[token] = span
	}
	return span
}

// Observe takes the events of a client. Locks have no spans: there may be thousands a second.
func (s *Spans) Observe(e incumbent.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch d := e.Detail.(type) {
	case incumbent.TermBegan:
		if leads(d.Place.Recipe) {
			s.begin(e, d)
		}
	case incumbent.TermEnded:
		if span := s.open[d.Place.Token]; span != nil {
			s.end(e, d, span)
		}
	case incumbent.ConnectionChanged:
		s.note(e, "connection", attribute.String("incumbent.connection.state", string(d.To)))
	case incumbent.Confirmed:
		if d.Code != "" {
			s.note(e, "not confirmed", attribute.String("incumbent.code", string(d.Code)))
		}
	case incumbent.ProcessPaused:
		s.note(e, "this process did not run", attribute.Float64("incumbent.paused.seconds", d.For.Seconds()))
	case incumbent.EventsDropped: // the end of a term may be among them
		for token, span := range s.open {
			span.SetAttributes(attribute.Bool("incumbent.events.dropped", true))
			span.End(trace.WithTimestamp(e.At))
			delete(s.open, token)
		}
	}
}

// leads reports whether the terms of a recipe are leadership.
func leads(recipe string) bool {
	switch recipe {
	case "latch", "selector", "election", "jobelection":
		return true
	}
	return false
}

func (s *Spans) begin(e incumbent.Event, d incumbent.TermBegan) {
	span := s.span(d.Place.Token, "leadership "+d.Place.Path, trace.WithTimestamp(e.At))
	span.SetName("leadership " + d.Place.Path)
	span.SetAttributes(
		attribute.String("incumbent.path", d.Place.Path), attribute.String("incumbent.recipe", d.Place.Recipe),
		attribute.String("incumbent.id", d.Place.ID), attribute.String("incumbent.node", d.Place.Node),
		attribute.Int64("incumbent.token", d.Place.Token),
		attribute.String("incumbent.zk_session", fmt.Sprintf("0x%x", uint64(d.Place.SessionID))),
		attribute.Int64("incumbent.log.seq", int64(e.Seq)), attribute.Int64("incumbent.log.cause", int64(e.Cause)),
		attribute.Float64("incumbent.waited.seconds", d.Waited.Seconds()))
	if before, known := s.last[d.Place.Path]; known {
		span.AddLink(trace.Link{SpanContext: before,
			Attributes: []attribute.KeyValue{attribute.String("incumbent.link", "the term before")}})
	}
	if _, known := s.last[d.Place.Path]; known || len(s.last) < maxLast {
		s.last[d.Place.Path] = span.SpanContext()
	}
}

// end ends a span at the instant until which leadership was believed. Only a loss is an error.
func (s *Spans) end(e incumbent.Event, d incumbent.TermEnded, span trace.Span) {
	span.SetAttributes(attribute.String("incumbent.reason", string(d.Lost.Reason)),
		attribute.Int64("incumbent.log.end_seq", int64(e.Seq)))
	if !d.Lost.Reason.Planned() {
		span.SetStatus(codes.Error, d.Lost.Error())
	}
	span.End(trace.WithTimestamp(d.Lost.BelievedUntil))
	delete(s.open, d.Place.Token)
}

// note adds an event to all open spans.
func (s *Spans) note(e incumbent.Event, name string, a attribute.KeyValue) {
	for _, span := range s.open {
		span.AddEvent(name, trace.WithTimestamp(e.At),
			trace.WithAttributes(a, attribute.Int64("incumbent.log.seq", int64(e.Seq))))
	}
}

// Work returns a function for Latch.Run or a Selector. It calls work with the context of the Leadership, which
// has the term's span in it: the work's own spans are its children.
func (s *Spans) Work(work func(context.Context, *incumbent.Leadership) error) incumbent.Work {
	return func(l *incumbent.Leadership) error {
		s.mu.Lock()
		span := s.span(l.Token(), "leadership")
		s.mu.Unlock()
		return work(trace.ContextWithSpan(l.Context(), span), l)
	}
}
