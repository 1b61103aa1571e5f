package kerberos

import (
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// asReply answers an AS_REQ with a ticket, as Active Directory does: of FAST it says that it knows it, and no more.
func asReply(t *testing.T, raw []byte, password string) []byte {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	var request messages.ASReq
	must(request.Unmarshal(raw))
	keys := keytab.New()
	must(keys.AddEntry("alice", testRealm, password, time.Unix(1, 0), 1, aes))
	key, kvno, err := keys.GetEncryptionKey(request.ReqBody.CName, testRealm, 1, aes)
	must(err)
	c := newAcceptor(t).issue()
	now := time.Now().UTC().Truncate(time.Second)
	part := messages.EncKDCRepPart{
		Key: c.key, LastReqs: []messages.LastReq{{LRValue: now}}, Nonce: request.ReqBody.Nonce,
		Flags: types.NewKrbFlags(), AuthTime: now, StartTime: now, EndTime: now.Add(time.Hour),
		SRealm: testRealm, SName: request.ReqBody.SName,
	}
	types.SetFlag(&part.Flags, flags.EncPARep)
	plain, err := part.Marshal()
	must(err)
	sealed, err := crypto.GetEncryptedData(plain, key, keyusage.AS_REP_ENCPART, kvno)
	must(err)
	reply := messages.ASRep{KDCRepFields: messages.KDCRepFields{
		PVNO: 5, MsgType: msgtype.KRB_AS_REP, CRealm: testRealm, CName: request.ReqBody.CName, Ticket: c.ticket,
		EncPart: sealed,
	}}
	answer, err := reply.Marshal()
	must(err)
	return answer
}

// The answer of Active Directory to a login with a keytab is taken.
func TestALoginWithoutFAST(t *testing.T) {
	f := newFiles(t, answering(t, func(request []byte) []byte { return asReply(t, request, "secret") }), time.Now())
	m, err := New(Options{Keytab: f.keytab, Principal: "alice", Conf: f.conf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	if tgt, err := m.tickets.from.login(); err != nil || !tgt.usable(time.Now()) {
		t.Error(tgt.end, err)
	}
}

// A KDC whose answer is too big for UDP, and that does not answer by TCP, may do so later.
func TestAnAnswerTooBigForUDP(t *testing.T) {
	refusal := messages.NewKRBError(ticketGranting(testRealm), testRealm, errorcode.KRB_ERR_RESPONSE_TOO_BIG, "")
	raw, err := refusal.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		request := make([]byte, 1<<16)
		for {
			_, from, err := conn.ReadFrom(request)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(raw, from) // if it fails, the client says so
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	addr := conn.LocalAddr().String()
	f := newFiles(t, addr, time.Now())
	const limit = "udp_preference_limit = 1"
	f.write(f.conf, []byte(strings.Replace(krb5conf(addr), limit, limit+"400", 1)))
	m, err := New(Options{Keytab: f.keytab, Principal: "alice", Conf: f.conf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	if _, err := m.tickets.from.login(); !isUnanswered(err) || !says(err, "no KDC answers: dial tcp "+addr) {
		t.Errorf("%v (%T)", err, err)
	}
}

// A login that was refused is asked again after a minute, or with another keytab: a KDC may lock a principal.
func TestARefusedLogin(t *testing.T) {
	refusal := messages.NewKRBError(ticketGranting(testRealm), testRealm, errorcode.KDC_ERR_CLIENT_REVOKED, "")
	raw, err := refusal.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	f := newFiles(t, answering(t, func([]byte) []byte { asked.Add(1); return raw }), time.Now())
	m, err := New(Options{Keytab: f.keytab, Principal: "alice", Conf: f.conf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	k := m.tickets.from.(byKeytab)
	login := func(want int32) {
		t.Helper()
		if _, err := k.login(); !says(err, "is locked") || asked.Load() != want {
			t.Errorf("%v, asked %d times, want %d", err, asked.Load(), want)
		}
		if _, err := k.renew(credential{}); !says(err, "is locked") || asked.Load() != want {
			t.Errorf("renewed: %v, asked %d times, want %d", err, asked.Load(), want)
		}
	}
	login(1)
	k.refused.at = time.Now().Add(-rememberRefusal)
	login(2)
	if err := os.Chtimes(f.keytab, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	login(3)
}

// tgsReply answers a TGS_REQ with what the client's key does not decrypt.
func tgsReply(t *testing.T) []byte {
	t.Helper()
	c, other := newAcceptor(t).issue(), newAcceptor(t).issue()
	sealed, err := crypto.GetEncryptedData([]byte("hello"), other.key, keyusage.TGS_REP_ENCPART_SESSION_KEY, 0)
	if err != nil {
		t.Error(err)
	}
	reply := messages.TGSRep{KDCRepFields: messages.KDCRepFields{
		PVNO: 5, MsgType: msgtype.KRB_TGS_REP, CRealm: testRealm, CName: c.ticket.SName, Ticket: c.ticket,
		EncPart: sealed,
	}}
	answer, err := reply.Marshal()
	if err != nil {
		t.Error(err)
	}
	return answer
}

// Only a login with a keytab can have a wrong one. An answer by the key of a ticket anybody could have sent.
func TestWrongKeys(t *testing.T) {
	f := newFiles(t, answering(t, func(request []byte) []byte {
		if request[0] == 0x60|msgtype.KRB_AS_REQ {
			return asReply(t, request, "another")
		}
		return tgsReply(t)
	}), time.Now().Add(time.Hour))
	for want, o := range map[string]Options{
		"it does not decrypt the KDC's answer: make a new keytab": {Keytab: f.keytab, Principal: "alice"},
		"the KDC's answer cannot be decrypted":                    {Cache: f.cache},
	} {
		o.Conf = f.conf
		m, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		if _, err = m.tickets.get(t.Context(), toLocalhost); !says(err, want) || isUnanswered(err) != (o.Cache != "") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	refusal := messages.NewKRBError(ticketGranting(testRealm), testRealm, errorcode.KDC_ERR_PREAUTH_FAILED, "")
	if err := explain(refusal); !says(err, wrongKey) || says(err, "keytab") {
		t.Error(err)
	}
	if err := explainLogin(refusal); !says(err, wrongKey) || !says(err, ": make a new keytab") {
		t.Error(err)
	}
}
