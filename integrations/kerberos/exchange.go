package kerberos

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/incumbent-go/incumbent"
)

// What is before a message of Kerberos in a token of GSSAPI (RFC 4121, 4.1), and the flags of a wrap token (4.2.2).
var (
	oid   = mustOID()
	apReq = []byte{1, 0}
	apRep = []byte{2, 0}
)

const (
	fromAcceptor   = 1
	sealed         = 2
	acceptorSubkey = 4
)

func mustOID() []byte {
	b, err := asn1.Marshal(gssapi.OIDKRB5.OID())
	if err != nil {
		panic(err) // it is a constant
	}
	return b
}

// step is what the next token of the server has to be.
type step int

const (
	reply step = iota // an AP_REP
	offer             // security layers
	end               // the server's null
)

// exchange is the client's side of one login.
type exchange struct {
	next         step
	key          types.EncryptionKey // the ticket's, or the acceptor's subkey
	subkey       bool
	auth         types.Authenticator
	mine, theirs uint64 // sequence numbers
	name         string
	accepted     func() // is called when the server has
}

// initiate makes the first token of a login: an AP_REQ.
func initiate(c credential, name string, mutual bool, accepted func()) (*exchange, []byte, error) {
	if notAES(c.key.KeyType) {
		return nil, nil, fmt.Errorf("cipher %d of its session key is old: give the server an AES key", c.key.KeyType)
	}
	client := parsePrincipal(name)
	auth, err := types.NewAuthenticator(client.realm, types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, client.name))
	if err != nil {
		return nil, nil, err
	}
	wanted := uint32(gssapi.ContextFlagInteg | gssapi.ContextFlagSequence)
	if mutual {
		wanted |= gssapi.ContextFlagMutual
	}
	auth.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: contextFlags(wanted)}
	request, err := messages.NewAPReq(c.ticket, c.key, auth)
	if err != nil {
		return nil, nil, err
	}
	number := uint64(auth.SeqNumber)
	e := &exchange{next: offer, key: c.key, auth: auth, mine: number, theirs: number, name: name, accepted: accepted}
	if mutual {
		e.next = reply
		types.SetFlag(&request.APOptions, flags.APOptionMutualRequired)
	}
	raw, err := request.Marshal()
	return e, frame(apReq, raw), err
}

// contextFlags returns the checksum of an authenticator (RFC 4121, 4.1.1): no channel bindings, and the flags.
func contextFlags(wanted uint32) []byte {
	sum := binary.LittleEndian.AppendUint32(nil, 16)
	sum = append(sum, make([]byte, 16)...)
	return binary.LittleEndian.AppendUint32(sum, wanted)
}

// frame puts a message into a token (RFC 2743, 3.1).
func frame(kind, message []byte) []byte {
	return asn1tools.AddASNAppTag(bytes.Join([][]byte{oid, kind, message}, nil), 0)
}

var errNoLogin = errors.New("the server has no login by Kerberos: see its authProvider and JAAS file")

// Next answers a token of the server.
func (e *exchange) Next(_ context.Context, token []byte) (answer []byte, done bool, err error) {
	defer recovered(&err)
	if e.next == end {
		if len(token) > 0 {
			return nil, false, errors.New("the server goes on after the login's end")
		}
		e.accepted()
		return nil, true, nil
	}
	if token == nil {
		return nil, false, errNoLogin
	}
	if e.next == reply {
		e.next = offer
		return []byte{}, false, e.verify(token)
	}
	e.next = end
	answer, err = e.choose(token)
	return answer, false, err
}

// verify checks an AP_REP, which only the owner of the service's key can make of the authenticator.
func (e *exchange) verify(token []byte) error {
	message, err := unframe(token)
	if err != nil {
		return err
	}
	var r messages.APRep
	if err := r.Unmarshal(message); err != nil {
		return fmt.Errorf("the server's AP_REP cannot be read: %w", err)
	}
	plain, err := crypto.DecryptEncPart(r.EncPart, e.key, keyusage.AP_REP_ENCPART)
	if err != nil {
		return fmt.Errorf("the server does not have the key of its principal: %w", err)
	}
	var part messages.EncAPRepPart
	if err := part.Unmarshal(plain); err != nil {
		return fmt.Errorf("the server's AP_REP cannot be read: %w", err)
	}
	if part.CTime.Unix() != e.auth.CTime.Unix() || part.Cusec != e.auth.Cusec {
		return errors.New("the server's AP_REP is for another login")
	}
	e.theirs = uint64(uint32(part.SequenceNumber))
	if part.Subkey.KeyType != 0 {
		if notAES(part.Subkey.KeyType) {
			return fmt.Errorf("the server's subkey is of cipher %d: want AES", part.Subkey.KeyType)
		}
		e.key, e.subkey = part.Subkey, true
	}
	return nil
}

// unframe returns the AP_REP of a token. What a server has to say in place of one is its error.
func unframe(token []byte) ([]byte, error) {
	var outer asn1.RawValue
	if _, err := asn1.UnmarshalWithParams(token, &outer, "application,tag:0"); err != nil {
		return nil, fmt.Errorf("the server's token is not one of GSSAPI: %w", err)
	}
	inner, found := bytes.CutPrefix(outer.Bytes, oid)
	if !found || len(inner) < len(apRep) {
		return nil, errors.New("the server's token is not one of Kerberos")
	}
	if message, found := bytes.CutPrefix(inner, apRep); found {
		return message, nil
	}
	var refusal messages.KRBError
	if err := refusal.Unmarshal(inner[2:]); err == nil {
		why := explainCode(refusal.ErrorCode)
		text := "the server refuses the ticket: " + strings.ReplaceAll(why.Error(), "KDC", "server")
		if isUnanswered(why) {
			return nil, incumbent.SASLTransient(errors.New(text))
		}
		return nil, errors.New(text)
	}
	return nil, errors.New("the server's token is no AP_REP")
}

// choose answers the offer of security layers (RFC 4752, 3.1): none, and the client acts as its own principal.
func (e *exchange) choose(token []byte) ([]byte, error) {
	got, err := e.unwrap(token)
	if err != nil {
		return nil, err
	}
	if len(got) != 4 || got[0]&1 == 0 {
		return nil, errors.New("the server demands a security layer, which ZooKeeper's protocol has none of")
	}
	kind, err := crypto.GetEtype(e.key.KeyType)
	if err != nil {
		return nil, err
	}
	w := gssapi.WrapToken{SndSeqNum: e.mine, Payload: append([]byte{1, 0, 0, 0}, e.name...)}
	w.EC = uint16(kind.GetHMACBitLength() / 8)
	if e.subkey {
		w.Flags |= acceptorSubkey
	}
	if err := w.SetCheckSum(e.key, keyusage.GSSAPI_INITIATOR_SEAL); err != nil {
		return nil, err
	}
	return w.Marshal()
}

// unwrap checks a wrap token of the server, and returns what is in it.
func (e *exchange) unwrap(token []byte) ([]byte, error) {
	var w gssapi.WrapToken
	if err := w.Unmarshal(token, true); err != nil {
		return nil, fmt.Errorf("the server's token of security layers cannot be read: %w", err)
	}
	switch {
	case w.Flags&sealed != 0:
		return nil, errors.New("the server's token of security layers is encrypted, which was not agreed")
	case w.Flags&acceptorSubkey != 0 && !e.subkey:
		return nil, errors.New("the server signs with a subkey that it did not tell: set Mutual")
	case w.SndSeqNum != e.theirs:
		return nil, errors.New("the server's token of security layers is for another login")
	}
	body := token[gssapi.HdrLen:]
	if rotated := int(w.RRC) % max(len(body), 1); rotated > 0 { // RFC 4121, 4.2.5
		body = append(bytes.Clone(body[rotated:]), body[:rotated]...)
	}
	w.Payload, w.CheckSum = body[:len(body)-int(w.EC)], body[len(body)-int(w.EC):]
	if ok, _ := w.Verify(e.key, keyusage.GSSAPI_ACCEPTOR_SEAL); !ok { // its error has both checksums
		return nil, errors.New("the server's token of security layers is not signed with the key of its ticket")
	}
	return w.Payload, nil
}
