package discovery

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Type is what becomes of an instance's node when its session ends.
type Type string

// The types of instance, in Curator's words. The first two have ephemeral nodes: the ensemble deletes them with the
// session. The last two have persistent nodes, and no difference: Discovery.WriteStatic writes them.
const (
	Dynamic           Type = "DYNAMIC"            // the default; the node has the instance's id as its name
	DynamicSequential Type = "DYNAMIC_SEQUENTIAL" // the node's name is the id and ten digits: many share an id
	Static            Type = "STATIC"
	Permanent         Type = "PERMANENT"
)

// Instance is one instance of a service. Only Service has no default.
type Instance struct {
	Service string // the name of the service, and of the directory
	ID      string // by default a random UUID
	Address string // host name or address
	Port    int    // 0: none
	SSLPort int    // 0: none

	// Payload is any JSON, nil for none. It is kept as it is, an "@class" of Java's too. Java's readers need one if
	// the payload is an object, of a class that they have: see ClassPayload.
	Payload json.RawMessage

	Registered time.Time // in milliseconds; by default the time of the registration
	Type       Type      // by default Dynamic
	URI        []URIPart // the template of the instance's URI: see ParseURI and BuildURI
	Disabled   bool      // it is listed, and no provider picks it
}

// Found is an instance as it was read.
type Found struct {
	Instance
	Node  string // the node's name: that of a DynamicSequential instance is not its ID
	Owner int64  // ZooKeeper's id of the session that owns the node; 0 for a persistent node
	// Age is how long there had been no connection when this answer was given from a cache; 0 if there was one.
	Age time.Duration

	data string // what was read: an instance that was written again is another one
}

// URIPart is a part of the template of a URI: a text, or the name of a variable.
type URIPart struct {
	Value    string `json:"value"`
	Variable bool   `json:"variable"`
}

// ParseURI returns the parts of a template such as {scheme}://{address}:{port}/{name}. The error is ErrInstance.
func ParseURI(template string) ([]URIPart, error) {
	var parts []URIPart
	for rest := template; rest != ""; {
		text, after, variable := strings.Cut(rest, "{")
		if strings.Contains(text, "}") {
			return nil, bad("URI %s: a } without a {", quote(template))
		}
		if text != "" {
			parts = append(parts, URIPart{Value: text})
		}
		if !variable {
			break
		}
		name, end, closed := strings.Cut(after, "}")
		if !closed || strings.Contains(name, "{") {
			return nil, bad("URI %s: want {name} for a variable, as in {scheme}://{address}", quote(template))
		}
		parts = append(parts, URIPart{Value: strings.TrimSpace(name), Variable: true})
		rest = end
	}
	return parts, nil
}

// BuildURI returns the URI that the template URI makes of the instance, as Curator does: the variables are scheme
// (https if there is an SSLPort, else http), name, id, address, port, ssl-port, registration-time-utc, service-type, [
// and ] for braces, and those that are given, which win. What is not known is left out. The parts are foreign: check
// what comes out before it is used.
func (i Instance) BuildURI(variables map[string]string) string {
	known := map[string]string{
		"scheme": "http", "name": i.Service, "id": i.ID, "address": i.Address, "port": number(i.Port),
		"ssl-port": number(i.SSLPort), "service-type": strings.ToLower(string(i.Type)), "[": "{", "]": "}",
		"registration-time-utc": strconv.FormatInt(millis(i.Registered), 10),
	}
	if i.SSLPort != 0 {
		known["scheme"] = "https"
	}
	var uri strings.Builder
	for _, p := range i.URI {
		value := p.Value
		if p.Variable {
			given, ok := variables[p.Value]
			if value = known[p.Value]; ok {
				value = given
			}
		}
		uri.WriteString(value)
	}
	return uri.String()
}

// number returns a port in digits, "" for none.
func number(port int) string {
	if port == 0 {
		return ""
	}
	return strconv.Itoa(port)
}

// millis returns a time in milliseconds, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// ClassPayload returns a payload that Java's readers turn into an object of this class: v has to become an object in
// JSON, and gets the property "@class". The error is ErrInstance.
func ClassPayload(class string, v any) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, bad("payload: %v", err)
	}
	if text[0] != '{' {
		return nil, bad("payload of class %s: want an object in JSON, got %s", quote(class), quote(string(text)))
	}
	name, err := json.Marshal(class)
	if err != nil {
		return nil, bad("class: %v", err)
	}
	text = bytes.TrimPrefix(text, []byte("{"))
	if text[0] != '}' {
		text = append([]byte{','}, text...)
	}
	return slices.Concat([]byte(`{"@class":`), name, text), nil
}

// Class returns the "@class" of a payload that is an object, "" if it has none. It is what the writer said: data.
func (i Instance) Class() string {
	var fields map[string]json.RawMessage
	var class string
	if json.Unmarshal(i.Payload, &fields) != nil || json.Unmarshal(fields["@class"], &class) != nil {
		return ""
	}
	return class
}

// DecodePayload decodes the payload into the value that v points to, as json.Unmarshal does; an "@class" is a property
// like any other. Without a payload the value stays as it is.
func (i Instance) DecodePayload(v any) error {
	if len(i.Payload) == 0 {
		return nil
	}
	if err := json.Unmarshal(i.Payload, v); err != nil {
		return fmt.Errorf("discovery: payload of %s: %w", quote(i.ID), err)
	}
	return nil
}

// BytesPayload returns bytes of any kind as a payload: a string in base64, which Java reads as a String.
func BytesPayload(data []byte) json.RawMessage {
	text, _ := json.Marshal(append([]byte{}, data...)) // bytes can always be written
	return text
}

// PayloadBytes returns the bytes of a payload that BytesPayload made, or that Java made of a byte[].
func (i Instance) PayloadBytes() ([]byte, error) {
	text := i.Payload
	var typed []json.RawMessage // Java's: ["[B","AQID"]
	if json.Unmarshal(text, &typed) == nil && len(typed) == 2 && string(typed[0]) == `"[B"` {
		text = typed[1]
	}
	var data []byte
	if len(text) == 0 || text[0] != '"' || json.Unmarshal(text, &data) != nil {
		return nil, fmt.Errorf("discovery: payload of %s: want a string in base64", quote(i.ID))
	}
	return data, nil
}

// newID returns a random UUID.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // it does not fail
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	text := hex.EncodeToString(id[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// newDigits returns ten random digits that no sequential node gets from a server: those are at most the largest int32.
func newDigits() string {
	const lowest, end = math.MaxInt32 + 1, 10_000_000_000
	var random [8]byte
	_, _ = rand.Read(random[:]) // it does not fail
	var n uint64
	for _, b := range random {
		n = n<<8 | uint64(b)
	}
	return strconv.FormatUint(lowest+n%(end-lowest), 10)
}
