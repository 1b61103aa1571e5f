package discovery_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/discovery"
)

// curators returns what Curator writes, by name.
func curators(t *testing.T) map[string]string {
	t.Helper()
	text := must(os.ReadFile("testdata/curator-5.9.tsv"))
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, data, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			all[name] = data
		}
	}
	same(t, "rows", len(all), 8)
	return all
}

// billing is the instance of which Curator wrote the rows all and enabled.
func billing() discovery.Instance {
	return discovery.Instance{
		Service: "billing", ID: "billing-1", Address: "10.0.0.8", Port: 80, SSLPort: 443, Type: discovery.Dynamic,
		Payload:    json.RawMessage(`{"@class":"Discovery$Payload","zone":"eu-1","weight":7}`),
		Registered: time.UnixMilli(1700000000000).UTC(),
		URI:        must(discovery.ParseURI("{scheme}://{address}:{port}/{name}")),
	}
}

// What is written has the bytes of Curator, with enabled.
func TestBytesAreCurators(t *testing.T) {
	all := curators(t)
	same(t, "all fields", string(must(billing().Encode())), all["enabled"])
	bare := discovery.Instance{
		Service: "orders", ID: "3abd72da-7366-4499-9dbd-1c7f8cf10dff", Address: "10.0.0.7", Port: 8080,
		Registered: time.UnixMilli(1795720179025),
	}
	without := func(i discovery.Instance) string {
		return strings.Replace(string(must(i.Encode())), `,"enabled":true`, "", 1)
	}
	same(t, "no payload", without(bare), all["default"])
	for name, payload := range map[string]string{
		"text": `"text"`, "number": "7", "map": ` {"@class": "java.util.LinkedHashMap", "zone":"x"}`,
		"list": `["java.util.ArrayList",[1,2]]`,
	} {
		i := discovery.Instance{Service: "n", ID: "i", Address: "h", Registered: time.UnixMilli(1)}
		i.Payload = json.RawMessage(payload)
		same(t, name, without(i), all[name])
	}
	bare.Disabled = true
	if text := string(must(bare.Encode())); !strings.HasSuffix(text, `,"enabled":false}`) {
		t.Errorf("a disabled instance is written as %s", text)
	}
	bare.Address = "<ä&>"
	if text := string(must(bare.Encode())); !strings.Contains(text, `"address":"<ä&>"`) {
		t.Errorf("an address is written as %s", text)
	}
}

// What Curator writes is read, and comes out as it was.
func TestCuratorsBytesAreRead(t *testing.T) {
	for name, text := range curators(t) {
		i := must(discovery.Decode([]byte(text)))
		back := string(must(i.Encode()))
		if name != "enabled" {
			back = strings.Replace(back, `,"enabled":true`, "", 1)
		}
		same(t, name, back, text)
		if name == "all" && !reflect.DeepEqual(i, billing()) {
			t.Errorf("read %+v\nwant %+v", i, billing())
		}
	}
}

// reads are data, and what a reader makes of them: an error's part, or "" and a check.
var reads = []struct {
	data, fails string
	check       func(discovery.Instance) bool
}{
	{`{"id":"i"}`, "", func(i discovery.Instance) bool {
		return i.ID == "i" && i.Type == discovery.Dynamic && !i.Disabled
	}},
	{`{}`, "", func(i discovery.Instance) bool { return i.ID == "" && i.Registered.IsZero() }},
	{`{"id":"i","enabled":false}`, "", func(i discovery.Instance) bool { return i.Disabled }},
	{`{"id":"i","enabled":null}`, "", func(i discovery.Instance) bool { return i.Disabled }},
	{`{"id":"i","unknown":{"x":[1]}}`, "", func(i discovery.Instance) bool { return i.ID == "i" }},
	{`{"ID":"i","Name":"n","PORT":"x"}`, "", func(i discovery.Instance) bool { return i.ID == "" && i.Service == "" }},
	{`{"id":"i","payload":{"zone":"x"}}`, "", func(i discovery.Instance) bool {
		return string(i.Payload) == `{"zone":"x"}`
	}},
	{`{"id":"i","payload":{"@class":"no.such.Class"}}`, "", func(i discovery.Instance) bool {
		return i.Class() == "no.such.Class"
	}},
	{`{"id":"i","name":null,"address":null,"port":null,"serviceType":"STATIC"}`, "", func(i discovery.Instance) bool {
		return i.Type == discovery.Static && i.Address == ""
	}},
	{`{"id":"i","payload":9007199254740993}`, "", func(i discovery.Instance) bool {
		return string(i.Payload) == "9007199254740993"
	}},
	{`{"id":"i","serviceType":"dynamic"}`, `serviceType "dynamic"`, nil},
	{`{"id":"i","port":65536}`, "65536", nil},
	{`{"id":"i","port":-1}`, "-1", nil},
	{`{"id":"i","port":true}`, "port: ", nil},
	{`{"id":7}`, "id: ", nil},
	{`[]`, "array", nil},
	{`null`, "null", nil},
	{``, "end of JSON", nil},
	{`junk`, "invalid character", nil},
	{"{\"id\":\"\xff\"}", "UTF-8", nil},
}

func TestReads(t *testing.T) {
	for _, c := range reads {
		i, err := discovery.Decode([]byte(c.data))
		switch {
		case c.fails == "" && (err != nil || !c.check(i)):
			t.Errorf("%s: %+v, %v", c.data, i, err)
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: the error is %v, want %s", c.data, err, c.fails)
		}
	}
}

// What a reader could not read back is not written.
func TestBadInstancesAreRefused(t *testing.T) {
	for want, change := range map[string]func(*discovery.Instance){
		"service":       func(i *discovery.Instance) { i.Service = "a/b" },
		"id \"..\"":     func(i *discovery.Instance) { i.ID = ".." },
		"id \"\"":       func(i *discovery.Instance) { i.ID = "" },
		"want 1 to":     func(i *discovery.Instance) { i.Port = 65536 },
		"ports 80 and":  func(i *discovery.Instance) { i.SSLPort = -1 },
		"type":          func(i *discovery.Instance) { i.Type = "static" },
		"BytesPayload":  func(i *discovery.Instance) { i.Payload = []byte("junk") },
		"BytesPayload ": func(i *discovery.Instance) { i.Payload = []byte("\"\xff\"") },
		"UTF-8":         func(i *discovery.Instance) { i.Address = "\xff" },
		"want UTF-8":    func(i *discovery.Instance) { i.URI = []discovery.URIPart{{Value: "\xff"}} },
	} {
		i := billing()
		change(&i)
		_, err := i.Encode()
		is(t, err, discovery.ErrInstance)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

func TestPayloads(t *testing.T) {
	p := must(discovery.ClassPayload("Discovery$Payload", struct {
		Zone   string `json:"zone"`
		Weight int    `json:"weight"`
	}{"eu-1", 7}))
	same(t, "with a class", string(p), string(billing().Payload))
	same(t, "an empty object", string(must(discovery.ClassPayload("C", struct{}{}))), `{"@class":"C"}`)
	for _, v := range []any{7, []int{1}, make(chan int)} {
		_, err := discovery.ClassPayload("C", v)
		is(t, err, discovery.ErrInstance)
	}
	for _, text := range []string{string(discovery.BytesPayload([]byte{1, 2, 3})), `["[B","AQID"]`} {
		i := discovery.Instance{Payload: json.RawMessage(text)}
		same(t, text, string(must(i.PayloadBytes())), "\x01\x02\x03")
	}
	same(t, "no bytes", string(discovery.BytesPayload(nil)), `""`)
	for _, text := range []string{"", "7", "null", `"?"`, `["[B",7]`, `["[C","AQID"]`} {
		if data, err := (discovery.Instance{Payload: json.RawMessage(text)}).PayloadBytes(); err == nil {
			t.Errorf("%s has the bytes %q", text, data)
		}
	}
	var zone struct{ Zone string }
	fine(t, billing().DecodePayload(&zone))
	same(t, "decoded", zone.Zone, "eu-1")
	fine(t, discovery.Instance{}.DecodePayload(&zone))
	var syntax *json.UnmarshalTypeError
	if err := billing().DecodePayload(new(int)); !errors.As(err, &syntax) {
		t.Errorf("an object decoded as a number: %v", err)
	}
	same(t, "a payload without a class", discovery.Instance{Payload: json.RawMessage(`[1]`)}.Class(), "")
}

func TestURIs(t *testing.T) {
	i := billing()
	same(t, "with an SSL port", i.BuildURI(nil), "https://10.0.0.8:80/billing")
	i.SSLPort, i.Port = 0, 0
	same(t, "without ports", i.BuildURI(map[string]string{"name": "x"}), "http://10.0.0.8:/x")
	i.URI = must(discovery.ParseURI("{[}{id}{]} { service-type } {registration-time-utc}{ssl-port}{nothing}"))
	same(t, "other variables", i.BuildURI(nil), "{billing-1} dynamic 1700000000000")
	for _, bad := range []string{"{", "a}", "{a{b}}", "{a}}"} {
		_, err := discovery.ParseURI(bad)
		is(t, err, discovery.ErrInstance)
	}
	if parts := must(discovery.ParseURI("")); parts != nil {
		t.Errorf("no template has the parts %v", parts)
	}
}

// FuzzDecode: whatever a node holds, reading it gives an error, or an instance that is read again as it was.
func FuzzDecode(f *testing.F) {
	for _, c := range reads {
		f.Add([]byte(c.data))
	}
	f.Add(must(billing().Encode()))
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := discovery.Decode(data)
		if err != nil {
			return
		}
		text, err := i.Encode()
		if err != nil { // an id or a service that no node can have
			is(t, err, discovery.ErrInstance)
			return
		}
		again := must(discovery.Decode(text))
		if back := must(again.Encode()); string(back) != string(text) {
			t.Errorf("%s\nbecame %s", text, back)
		}
	})
}
