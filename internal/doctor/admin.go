package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// admin asks a server's admin server for a command. It returns nil if none answers there, or if it is not that of the
// server with this port for clients.
func (s *Settings) admin(ctx context.Context, address, command string) (fields, *Clock) {
	host, _, err := net.SplitHostPort(address)
	if s.AdminPort == 0 || err != nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.Step)
	defer cancel()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		return s.Dial(ctx, address)
	}, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	url := "http://" + net.JoinHostPort(host, strconv.Itoa(s.AdminPort)) + "/commands/" + command
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, nil
	}
	begun := s.Now()
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, nil
	}
	took := s.Now().Sub(begun)
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxWord))
	object := map[string]any{}
	if err != nil || answer.StatusCode != http.StatusOK || json.Unmarshal(text, &object) != nil {
		return nil, nil
	}
	f := fields{}
	flatten(f, object)
	return f, clockOf(answer.Header.Get("Date"), begun, took)
}

// clockOf compares the date of an answer, in whole seconds, with this host's clock.
func clockOf(date string, begun time.Time, took time.Duration) *Clock {
	at, err := http.ParseTime(date)
	if err != nil {
		return nil
	}
	const half = time.Second / 2
	return &Clock{From: "admin server", Offset: Millis(at.Add(half).Sub(begun.Add(took / 2).Round(0))),
		Error: Millis(half + took/2)}
}

// flatten takes the values of an answer that are no lists. Those of objects in it are taken if their names are new.
func flatten(f fields, object map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch v := object[name].(type) {
		case float64:
			f[name] = strconv.FormatFloat(v, 'f', -1, 64)
		case string, bool:
			f[name] = fmt.Sprint(v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if inner, ok := object[name].(map[string]any); ok {
			below := fields{}
			flatten(below, inner)
			maps.Copy(below, f)
			maps.Copy(f, below)
		}
	}
}

// askAdmin asks the admin server for its clock, and for what the four-letter words did not say.
func (v *Server) askAdmin(ctx context.Context, s *Settings) {
	conf, clock := s.admin(ctx, v.Address, "configuration")
	_, port, _ := net.SplitHostPort(v.Address)
	if conf == nil || conf["client_port"] != port && conf["secure_client_port"] != port {
		return // none answers, or it is that of another server of this host
	}
	v.admin, v.Clock = true, clock
	v.learnSettings(conf, "admin server", "tick_time", "sync_limit", "server_id")
	stats, _ := s.admin(ctx, v.Address, "stats")
	v.learnVersion(stats["version"], "admin server")
	v.learnRole(stats["server_state"])
	properties, _ := s.admin(ctx, v.Address, "system_properties")
	if n, ok := properties.number("jute.maxbuffer"); ok {
		v.buffer = n
	}
}
