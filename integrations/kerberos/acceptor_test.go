package kerberos

import (
	"bytes"
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/incumbent-go/incumbent"
)

// acceptor is a server's side of the exchange, which can do what the JDK's does not.
type acceptor struct {
	t    *testing.T
	keys *keytab.Keytab

	subkey  bool // has a key of its own, in the AP_REP
	rotated int  // wrap tokens are rotated by so many bytes
	layers  byte // that are offered
	// spoil changes the wrap token before it is signed, and after.
	before func(*gssapi.WrapToken)
	after  func([]byte) []byte

	key    types.EncryptionKey
	auth   types.Authenticator
	mutual bool
	seq    uint64
}

const aes = etypeID.AES256_CTS_HMAC_SHA1_96

func newAcceptor(t *testing.T) *acceptor {
	t.Helper()
	a := &acceptor{t: t, keys: keytab.New(), layers: 1}
	if err := a.keys.AddEntry("zookeeper/localhost", testRealm, "secret", time.Unix(1, 0), 1, aes); err != nil {
		t.Fatal(err)
	}
	return a
}

// issue returns a ticket of alice's for the acceptor, as a KDC would.
func (a *acceptor) issue() credential {
	a.t.Helper()
	now := time.Now().UTC()
	alice := types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, "alice")
	server := types.NewPrincipalName(nametype.KRB_NT_SRV_HST, "zookeeper/localhost")
	ticket, key, err := messages.NewTicket(alice, testRealm, server, testRealm, types.NewKrbFlags(), a.keys, aes, 1,
		now, now, now.Add(time.Hour), now.Add(time.Hour))
	if err != nil {
		a.t.Fatal(err)
	}
	return credential{ticket: ticket, key: key, begin: now, end: now.Add(time.Hour)}
}

func (a *acceptor) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// accept reads the AP_REQ.
func (a *acceptor) accept(token []byte) {
	a.t.Helper()
	var outer asn1.RawValue
	_, err := asn1.UnmarshalWithParams(token, &outer, "application,tag:0")
	a.must(err)
	inner, found := bytes.CutPrefix(outer.Bytes, append(bytes.Clone(oid), apReq...))
	if !found {
		a.t.Fatalf("no AP_REQ: %x", token)
	}
	var request messages.APReq
	a.must(request.Unmarshal(inner))
	a.must(request.Ticket.DecryptEncPart(a.keys, nil))
	a.key = request.Ticket.DecryptedEncPart.Key
	a.must(request.DecryptAuthenticator(a.key))
	a.auth = request.Authenticator
	a.mutual = types.IsFlagSet(&request.APOptions, flags.APOptionMutualRequired)
	a.seq = uint64(a.auth.SeqNumber)
}

// part is the encrypted part of an AP_REP, with a subkey that may be missing: gokrb5's has it as a value, which is
// always written.
type part struct {
	CTime          time.Time           `asn1:"generalized,explicit,tag:0"`
	Cusec          int                 `asn1:"explicit,tag:1"`
	Subkey         types.EncryptionKey `asn1:"optional,explicit,tag:2"`
	SequenceNumber int64               `asn1:"optional,explicit,tag:3"`
}

// reply returns the AP_REP.
func (a *acceptor) reply() []byte {
	a.t.Helper()
	p := part{CTime: a.auth.CTime, Cusec: a.auth.Cusec, SequenceNumber: 4711}
	if a.subkey {
		p.Subkey = types.EncryptionKey{KeyType: etypeID.AES128_CTS_HMAC_SHA1_96, KeyValue: []byte("a key of 16 byte")}
	}
	plain, err := asn1.Marshal(p)
	a.must(err)
	plain = asn1tools.AddASNAppTag(plain, asnAppTag.EncAPRepPart)
	sealed, err := crypto.GetEncryptedData(plain, a.key, keyusage.AP_REP_ENCPART, 0)
	a.must(err)
	raw, err := asn1.Marshal(messages.APRep{PVNO: 5, MsgType: msgtype.KRB_AP_REP, EncPart: sealed})
	a.must(err)
	a.seq = uint64(p.SequenceNumber)
	if a.subkey {
		a.key = p.Subkey
	}
	return frame(apRep, asn1tools.AddASNAppTag(raw, asnAppTag.APREP))
}

// offer returns the token of security layers.
func (a *acceptor) offer() []byte {
	a.t.Helper()
	kind, err := crypto.GetEtype(a.key.KeyType)
	a.must(err)
	w := gssapi.WrapToken{Flags: fromAcceptor, SndSeqNum: a.seq, Payload: []byte{a.layers, 1, 0, 0}}
	w.EC = uint16(kind.GetHMACBitLength() / 8)
	if a.subkey {
		w.Flags |= acceptorSubkey
	}
	if a.before != nil {
		a.before(&w)
	}
	a.must(w.SetCheckSum(a.key, keyusage.GSSAPI_ACCEPTOR_SEAL))
	w.RRC = uint16(a.rotated)
	raw, err := w.Marshal()
	a.must(err)
	body := raw[gssapi.HdrLen:]
	n := len(body) - a.rotated%len(body)
	raw = append(raw[:gssapi.HdrLen:gssapi.HdrLen], append(bytes.Clone(body[n:]), body[:n]...)...)
	if a.after != nil {
		raw = a.after(raw)
	}
	return raw
}

// chosen checks the client's choice, and returns its name.
func (a *acceptor) chosen(token []byte) string {
	a.t.Helper()
	var w gssapi.WrapToken
	a.must(w.Unmarshal(token, false))
	if ok, err := w.Verify(a.key, keyusage.GSSAPI_INITIATOR_SEAL); !ok {
		a.t.Fatal(err)
	}
	if (w.Flags&acceptorSubkey != 0) != a.subkey || w.SndSeqNum != uint64(a.auth.SeqNumber) {
		a.t.Errorf("flags %x, number %d", w.Flags, w.SndSeqNum)
	}
	name, found := bytes.CutPrefix(w.Payload, []byte{1, 0, 0, 0})
	if !found {
		a.t.Errorf("chosen: %x", w.Payload)
	}
	return string(name)
}

// login plays a whole login, and returns the name that the client asks for.
func (a *acceptor) login(mutual bool) (name string, err error) {
	a.t.Helper()
	ended := false
	accepted := func() { ended = true }
	ctx := a.t.Context()
	e, token, err := initiate(a.issue(), "alice@"+testRealm, mutual, accepted)
	if err != nil {
		return "", err
	}
	a.accept(token)
	if a.mutual != mutual {
		a.t.Errorf("the options of the AP_REQ have mutual %v", a.mutual)
	}
	if mutual {
		answer, done, err := e.Next(ctx, a.reply())
		if err != nil {
			return "", err
		}
		if done || answer == nil || len(answer) > 0 {
			a.t.Errorf("after the AP_REP: %x, %v", answer, done)
		}
	}
	answer, done, err := e.Next(ctx, a.offer())
	if err != nil {
		return "", err
	}
	if done {
		a.t.Error("done before the server has accepted")
	}
	name = a.chosen(answer)
	if ended {
		a.t.Error("accepted before the server has")
	}
	if answer, done, err := e.Next(ctx, nil); len(answer) > 0 || !done || err != nil || !ended {
		a.t.Errorf("at the end: %x, %v, %v, accepted %v", answer, done, err, ended)
	}
	return name, nil
}

// Every acceptor that keeps to RFC 4121 and 4752 is answered, also those that ZooKeeper's JDK has none of.
func TestAcceptors(t *testing.T) {
	for _, mutual := range []bool{false, true} {
		for _, subkey := range []bool{false, true} {
			for _, rotated := range []int{0, 5, 16} {
				a := newAcceptor(t)
				a.subkey, a.rotated, a.layers = subkey && mutual, rotated, 7
				if name, err := a.login(mutual); err != nil || name != "alice@"+testRealm {
					t.Errorf("mutual %v, subkey %v, rotated by %d: %q, %v", mutual, subkey, rotated, name, err)
				}
			}
		}
	}
}

// with has an acceptor change its token before it is signed.
func with(change func(*gssapi.WrapToken)) func(*acceptor) {
	return func(a *acceptor) { a.before = change }
}

// What is not signed for this login is refused.
func TestForgedOffers(t *testing.T) {
	for want, set := range map[string]func(*acceptor){
		"not signed with the key":   func(a *acceptor) { a.after = func(b []byte) []byte { b[17] ^= 1; return b } },
		"demands a security layer":  func(a *acceptor) { a.layers = 6 },
		"is for another login":      with(func(w *gssapi.WrapToken) { w.SndSeqNum++ }),
		"is encrypted":              with(func(w *gssapi.WrapToken) { w.Flags |= sealed }),
		"subkey that it":            with(func(w *gssapi.WrapToken) { w.Flags |= acceptorSubkey }),
		"cannot be read: bytes sho": func(a *acceptor) { a.after = func(b []byte) []byte { return b[:10] } },
		"expected acceptor flag is": with(func(w *gssapi.WrapToken) { w.Flags = 0 }),
		"has no login by Kerberos":  func(a *acceptor) { a.after = func([]byte) []byte { return nil } },
	} {
		a := newAcceptor(t)
		set(a)
		if _, err := a.login(false); !says(err, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// An AP_REP is of the server that has the key, and for this login.
func TestForgedReplies(t *testing.T) {
	refusal := messages.NewKRBError(ticketGranting(testRealm), testRealm, errorcode.KRB_AP_ERR_SKEW, "")
	raw, err := refusal.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(a *acceptor) []byte{
		"does not have the key":         func(a *acceptor) []byte { a.key.KeyValue[0] ^= 1; return a.reply() },
		"is for another login":          func(a *acceptor) []byte { a.auth.Cusec++; return a.reply() },
		"has no login by Kerberos":      func(*acceptor) []byte { return nil },
		"is not one of GSSAPI":          func(*acceptor) []byte { return []byte("hello") },
		"is not one of Kerberos":        func(*acceptor) []byte { return asn1tools.AddASNAppTag([]byte("hello"), 0) },
		"is no AP_REP":                  func(*acceptor) []byte { return frame(apReq, []byte("hello")) },
		"cannot be read":                func(*acceptor) []byte { return frame(apRep, []byte("hello")) },
		"the ticket: clock skew: the c": func(*acceptor) []byte { return frame([]byte{3, 0}, raw) },
	} {
		a := newAcceptor(t)
		e, token, err := initiate(a.issue(), "alice@"+testRealm, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		a.accept(token)
		if _, _, err := e.Next(context.Background(), change(a)); !says(err, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A session key that no token can be made with is an error before anything is sent.
func TestOldCiphers(t *testing.T) {
	c := newAcceptor(t).issue()
	c.key.KeyType = etypeID.RC4_HMAC
	if _, _, err := initiate(c, "alice@"+testRealm, false, nil); !says(err, "an AES key") {
		t.Error(err)
	}
}

// A server that has had the same ticket at the same time before refuses only this login.
func TestAReplay(t *testing.T) {
	for number, passes := range map[int32]bool{errorcode.KRB_AP_ERR_REPEAT: true,
		errorcode.KRB_AP_ERR_MODIFIED: false} {
		refusal := messages.NewKRBError(ticketGranting(testRealm), testRealm, number, "")
		raw, err := refusal.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		a := newAcceptor(t)
		e, token, err := initiate(a.issue(), "alice@"+testRealm, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		a.accept(token)
		_, _, err = e.Next(t.Context(), frame([]byte{3, 0}, raw))
		transient := reflect.TypeOf(err) == reflect.TypeOf(incumbent.SASLTransient(err))
		if !says(err, "the server refuses the ticket: the server says (") || transient != passes {
			t.Errorf("%v (%T)", err, err)
		}
	}
}
