package kerberos

import (
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// asReply answers an AS_REQ with a ticket, as Active Directory does: of FAST it says that it knows it, and no more.
func asReply(t *testing.T, raw []byte) []byte {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	var request messages.ASReq
	must(request.Unmarshal(raw))
	keys := keytab.New()
	must(keys.AddEntry("alice", testRealm, "secret", time.Unix(1, 0), 1, aes))
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
	f := newFiles(t, answering(t, func(request []byte) []byte { return asReply(t, request) }), time.Now())
	m, err := New(Options{Keytab: f.keytab, Principal: "alice", Conf: f.conf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	if tgt, err := m.tickets.from.login(); err != nil || !tgt.usable(time.Now()) {
		t.Error(tgt.end, err)
	}
}
