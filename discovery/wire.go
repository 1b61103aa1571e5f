package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// maxPort is the largest port.
const maxPort = 1<<16 - 1

// wire has the fields in the order in which Curator writes them.
type wire struct {
	Name       string          `json:"name"`
	ID         string          `json:"id"`
	Address    *string         `json:"address"`
	Port       *int            `json:"port"`
	SSLPort    *int            `json:"sslPort"`
	Payload    json.RawMessage `json:"payload"`
	Registered int64           `json:"registrationTimeUTC"`
	Type       Type            `json:"serviceType"`
	URI        *uriSpec        `json:"uriSpec"`
	Enabled    bool            `json:"enabled"`
}

type uriSpec struct {
	Parts []URIPart `json:"parts"`
}

// Encode returns the bytes of the instance's node: UTF-8 JSON as Curator 5.9 writes it with "enabled". It fills in no
// defaults but that of Type. The error is ErrInstance.
func (i Instance) Encode() ([]byte, error) {
	if err := i.check(); err != nil {
		return nil, err
	}
	w := wire{
		Name: i.Service, ID: i.ID, Payload: i.Payload, Registered: millis(i.Registered),
		Type: i.Type, Enabled: !i.Disabled,
	}
	if i.Address != "" {
		w.Address = &i.Address
	}
	if i.Port != 0 {
		w.Port = &i.Port
	}
	if i.SSLPort != 0 {
		w.SSLPort = &i.SSLPort
	}
	if w.Type == "" {
		w.Type = Dynamic
	}
	if i.URI != nil {
		w.URI = &uriSpec{i.URI}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(w); err != nil {
		return nil, bad("%v", err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// check returns what is wrong with an instance that is to be written.
func (i Instance) check() error {
	if err := errors.Join(checkName("service", i.Service), checkName("id", i.ID)); err != nil {
		return err
	}
	texts := []string{i.Service, i.ID, i.Address}
	for _, p := range i.URI {
		texts = append(texts, p.Value)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return bad("%s: want UTF-8", quote(text))
		}
	}
	switch {
	case i.Port < 0 || i.Port > maxPort || i.SSLPort < 0 || i.SSLPort > maxPort:
		return bad("ports %d and %d: want 1 to %d, or 0 for none", i.Port, i.SSLPort, maxPort)
	case i.Type != "" && !i.Type.known():
		return bad("type %s: want %s, %s, %s or %s",
			quote(string(i.Type)), Dynamic, DynamicSequential, Static, Permanent)
	case i.Payload != nil && (!json.Valid(i.Payload) || !utf8.Valid(i.Payload)):
		return bad("a payload that is no JSON: use BytesPayload for other bytes")
	}
	return nil
}

func (t Type) known() bool { return t.ephemeral() || t == Static || t == Permanent }

func (t Type) ephemeral() bool { return t == Dynamic || t == DynamicSequential }

// Decode returns the instance that a node's data hold. It takes what a Java reader takes: any field may be missing,
// and others are ignored; but it takes any payload. A port that is none is an error.
func Decode(data []byte) (Instance, error) {
	if !utf8.Valid(data) {
		return Instance{}, errors.New("the data are not UTF-8")
	}
	var fields map[string]json.RawMessage // and no struct: Go matches fields in any case, Java does not
	if err := json.Unmarshal(data, &fields); err != nil {
		return Instance{}, err
	}
	if fields == nil {
		return Instance{}, errors.New("the data are null")
	}
	i := Instance{Type: Dynamic}
	var registered int64
	var address *string
	var uri *uriSpec
	enabled := true
	for _, f := range []struct {
		name string
		to   any
	}{
		{"name", &i.Service}, {"id", &i.ID}, {"address", &address}, {"port", &i.Port}, {"sslPort", &i.SSLPort},
		{"registrationTimeUTC", &registered}, {"serviceType", &i.Type}, {"uriSpec", &uri}, {"enabled", &enabled},
	} {
		if text, ok := fields[f.name]; ok {
			if err := json.Unmarshal(text, f.to); err != nil {
				return Instance{}, fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	switch {
	case !i.Type.known():
		return Instance{}, fmt.Errorf("serviceType %s", quote(string(i.Type)))
	case i.Port < 0 || i.Port > maxPort || i.SSLPort < 0 || i.SSLPort > maxPort:
		return Instance{}, fmt.Errorf("ports %d and %d", i.Port, i.SSLPort)
	}
	if payload := fields["payload"]; string(payload) != "null" {
		i.Payload = payload
	}
	if address != nil {
		i.Address = *address
	}
	if registered != 0 {
		i.Registered = time.UnixMilli(registered).UTC()
	}
	if uri != nil {
		i.URI = append([]URIPart{}, uri.Parts...)
	}
	i.Disabled = !enabled || string(fields["enabled"]) == "null" // as Java has it
	return i, nil
}
