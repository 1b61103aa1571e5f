package kerberos

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// newSource returns where the tickets come from.
func newSource(o Options) (source, error) {
	conf := firstOf(o.Conf, firstPath(os.Getenv("KRB5_CONFIG")), "/etc/krb5.conf")
	cfg, err := config.Load(conf)
	var unsupported config.UnsupportedDirective
	if err != nil && !errors.As(err, &unsupported) {
		return nil, fmt.Errorf("the configuration %s: %w", conf, err)
	}
	// Tokens are made and read with AES keys only.
	cfg.LibDefaults.DefaultTGSEnctypeIDs = slices.DeleteFunc(slices.Clone(cfg.LibDefaults.DefaultTGSEnctypeIDs), notAES)
	if len(cfg.LibDefaults.DefaultTGSEnctypeIDs) == 0 {
		return nil, fmt.Errorf("the configuration %s: default_tgs_enctypes has no AES, such as aes256-cts", conf)
	}
	k := realm{cfg: cfg, conf: conf, client: parsePrincipal(o.Principal)}
	if o.Keytab == "" {
		file, err := cacheFile(o.Cache)
		if err != nil {
			return nil, err
		}
		return newCache(k, file)
	}
	if o.Cache != "" {
		return nil, errors.New("a keytab and a cache are given: give one")
	}
	return newKeytab(k, o.Keytab)
}

func notAES(id int32) bool {
	return !slices.Contains([]int32{etypeID.AES256_CTS_HMAC_SHA1_96, etypeID.AES128_CTS_HMAC_SHA1_96,
		etypeID.AES256_CTS_HMAC_SHA384_192, etypeID.AES128_CTS_HMAC_SHA256_128}, id)
}

func firstOf(all ...string) string {
	return all[slices.IndexFunc(all, func(s string) bool { return s != "" })]
}

// firstPath returns the first of paths with colons between.
func firstPath(list string) string {
	path, _, _ := strings.Cut(list, ":")
	return path
}

// cacheFile returns the file of a credential cache.
func cacheFile(given string) (string, error) {
	name := firstOf(given, os.Getenv("KRB5CCNAME"), "/tmp/krb5cc_"+strconv.Itoa(os.Getuid()))
	kind, path, found := strings.Cut(name, ":")
	switch {
	case !found || strings.Contains(kind, "/"):
		return name, nil
	case kind != "FILE":
		return "", fmt.Errorf("the credential cache %s is no file: want a path, or FILE: before it", name)
	}
	return path, nil
}

// realm asks the KDCs of a configuration for one client.
type realm struct {
	cfg    *config.Config
	conf   string // its file
	client service
}

func (r realm) name() string { return r.client.String() }

// complete checks the principal.
func (r *realm) complete() error {
	if r.client.realm == "" {
		r.client.realm = r.cfg.LibDefaults.DefaultRealm
	}
	if r.client.name == "" || r.client.realm == "" || strings.Contains(r.client.realm, "@") {
		return fmt.Errorf("the principal %q: want name@REALM, or a name and a default_realm in %s", r.client, r.conf)
	}
	return nil
}

// known returns an error if the configuration has no KDC of a realm.
func (r realm) known(name string) error {
	listed := slices.ContainsFunc(r.cfg.Realms, func(one config.Realm) bool {
		return one.Realm == name && len(one.KDC) > 0
	})
	if listed || r.cfg.LibDefaults.DNSLookupKDC {
		return nil
	}
	return fmt.Errorf("the realm %s has no KDC in %s: add one to [realms], or set dns_lookup_kdc", name, r.conf)
}

// with calls a function with a client of gokrb5's, which does not outlive it: a client renews tickets on goroutines
// of its own. It does not ask for FAST, for which Active Directory has an answer that gokrb5 does not take.
func (r realm) with(keys *keytab.Keytab, f func(*client.Client) error) (err error) {
	cl := client.NewWithKeytab(r.client.name, r.client.realm, keys, r.cfg, client.DisablePAFXFAST(true))
	defer cl.Destroy()
	defer func() {
		if p := recover(); p != nil { // a message with wrong lengths, which anybody could have sent
			err = unanswered{fmt.Errorf("the KDC's answer cannot be read: %v", p)}
		}
	}()
	return f(cl)
}

// recovered turns a panic of gokrb5, which does not check all lengths, into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("it cannot be read: %v", p)
	}
}

// ticket asks for a ticket for a service, in its realm.
func (r realm) ticket(tgt credential, to service) (c credential, err error) {
	at := to.realm
	if at == "" {
		at = firstOf(r.cfg.ResolveRealm(to.host()), r.client.realm)
	}
	if err = r.known(at); err != nil {
		return credential{}, err
	}
	if at != r.client.realm {
		if tgt, err = r.ask(tgt, r.client.realm, ticketGranting(at), false); err != nil {
			return credential{}, fmt.Errorf("no ticket for the realm %s of %s: %w", at, to, err)
		}
	}
	c, err = r.ask(tgt, at, types.NewPrincipalName(nametype.KRB_NT_SRV_HST, to.name), false)
	if err != nil {
		return credential{}, fmt.Errorf("no ticket for %s@%s: %w", to.name, at, err)
	}
	return c, nil
}

func ticketGranting(realm string) types.PrincipalName {
	return types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", realm}}
}

// ask has a KDC of a realm make a ticket of another, or renew it.
func (r realm) ask(by credential, at string, to types.PrincipalName, renewal bool) (c credential, err error) {
	err = r.with(keytab.New(), func(cl *client.Client) error {
		_, reply, err := cl.TGSREQGenerateAndExchange(to, at, by.ticket, by.key, renewal)
		c = fromReply(reply.Ticket, reply.DecryptedEncPart)
		return err
	})
	return c, explain(err)
}

func fromReply(t messages.Ticket, part messages.EncKDCRepPart) credential {
	begin := part.StartTime
	if begin.IsZero() {
		begin = part.AuthTime
	}
	return credential{t, part.Key, begin, part.EndTime, part.RenewTill}
}

// byKeytab logs in with the key in a file.
type byKeytab struct {
	realm
	file    string
	refused *refusal // the last one
}

// refusal is one of a login, which is remembered for a while, but not for another file: each login with a wrong key
// brings the principal closer to being locked.
type refusal struct {
	err     error
	at      time.Time
	changed time.Time // the file
}

// rememberRefusal is how long.
const rememberRefusal = time.Minute

func newKeytab(r realm, file string) (source, error) {
	k := byKeytab{r, file, &refusal{}}
	if err := k.complete(); err != nil {
		return nil, err
	}
	if err := k.known(k.client.realm); err != nil {
		return nil, err
	}
	_, err := k.keys()
	return k, err
}

// keys reads the file.
func (k byKeytab) keys() (keys *keytab.Keytab, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("the keytab %s: %w", k.file, err)
		}
	}()
	defer recovered(&err)
	if keys, err = keytab.Load(k.file); err != nil {
		return nil, err
	}
	for _, one := range keys.Entries {
		if one.Principal.String() == k.name() {
			return keys, nil
		}
	}
	return nil, fmt.Errorf("it has no key of %s", k.name())
}

// login asks for a TGT, unless it was refused just now. It is for one goroutine at a time.
func (k byKeytab) login() (credential, error) {
	var changed time.Time
	if info, err := os.Stat(k.file); err == nil { // if not, the file cannot be read either
		changed = info.ModTime()
	}
	last := k.refused
	if last.err != nil && changed.Equal(last.changed) && time.Since(last.at) < rememberRefusal {
		return credential{}, last.err
	}
	c, err := k.logIn()
	*last = refusal{}
	var passing unanswered
	if err != nil && !errors.As(err, &passing) {
		*last = refusal{err, time.Now(), changed}
	}
	return c, err
}

// logIn asks for a TGT. It offers the ciphers of which the file has a key.
func (k byKeytab) logIn() (c credential, err error) {
	keys, err := k.keys()
	if err != nil {
		return credential{}, err
	}
	var have []int32
	for _, one := range keys.Entries {
		if one.Principal.String() == k.name() {
			have = append(have, one.Key.KeyType)
		}
	}
	cfg := *k.cfg
	allowed := slices.Clone(cfg.LibDefaults.DefaultTktEnctypeIDs)
	cfg.LibDefaults.DefaultTktEnctypeIDs = slices.DeleteFunc(allowed, func(id int32) bool {
		return !slices.Contains(have, id)
	})
	if len(cfg.LibDefaults.DefaultTktEnctypeIDs) == 0 {
		return credential{}, fmt.Errorf("the keytab %s has no key of a cipher that %s permits", k.file, k.conf)
	}
	r := k.realm
	r.cfg = &cfg
	err = r.with(keys, func(cl *client.Client) error {
		request, err := messages.NewASReqForTGT(k.client.realm, r.cfg, cl.Credentials.CName())
		if err != nil {
			return err
		}
		reply, err := cl.ASExchange(k.client.realm, request, 0)
		c = fromReply(reply.Ticket, reply.DecryptedEncPart)
		return err
	})
	if err != nil {
		return credential{}, fmt.Errorf("no login of %s with the keytab %s: %w", k.name(), k.file, explainLogin(err))
	}
	return c, nil
}

// renew logs in again, as Java's client does.
func (k byKeytab) renew(credential) (credential, error) { return k.login() }

// byCache takes a TGT of a file that another program, such as kinit, writes.
type byCache struct {
	realm
	file string
}

func newCache(r realm, file string) (source, error) {
	c := byCache{r, file}
	_, name, err := c.read()
	if err != nil {
		return nil, err
	}
	if c.client.name == "" {
		c.client = parsePrincipal(name)
	}
	if err := c.complete(); err != nil {
		return nil, err
	}
	if name != c.name() {
		return nil, c.another(name)
	}
	return c, c.known(c.client.realm)
}

func (c byCache) another(name string) error {
	return fmt.Errorf("the credential cache %s has tickets of %s, want %s: run kinit", c.file, name, c.name())
}

// read returns the TGT in the file, and whose it is.
func (c byCache) read() (tgt credential, name string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("the credential cache %s: %w: run kinit", c.file, err)
		}
	}()
	defer recovered(&err)
	all, err := credentials.LoadCCache(c.file)
	if err != nil {
		return credential{}, "", err
	}
	home := all.GetClientRealm()
	name = service{all.GetClientPrincipalName().PrincipalNameString(), home}.String()
	for _, one := range all.GetEntries() {
		if !one.Server.PrincipalName.Equal(ticketGranting(home)) || one.EndTime.Before(tgt.end) {
			continue
		}
		begin := one.StartTime
		if begin.Unix() <= 0 {
			begin = one.AuthTime
		}
		tgt = credential{key: one.Key, begin: begin, end: one.EndTime, till: one.RenewTill}
		if err := tgt.ticket.Unmarshal(one.Ticket); err != nil {
			return credential{}, "", err
		}
	}
	if tgt.end.IsZero() {
		return credential{}, "", fmt.Errorf("it has no ticket for the realm %s", home)
	}
	return tgt, name, nil
}

// login reads the file. A ticket that has expired is no ticket.
func (c byCache) login() (credential, error) {
	tgt, name, err := c.read()
	switch {
	case err != nil:
		return credential{}, err
	case name != c.name():
		return credential{}, c.another(name)
	case !tgt.usable(time.Now()):
		at := tgt.end.UTC().Format(time.RFC3339)
		return credential{}, fmt.Errorf("the ticket in the credential cache %s expired at %s: run kinit", c.file, at)
	}
	return tgt, nil
}

// renew reads the file again, and has the KDC renew the ticket if the file has no later one. The file stays as it is.
func (c byCache) renew(old credential) (credential, error) {
	if tgt, err := c.login(); err == nil && tgt.end.After(old.end) {
		return tgt, nil
	}
	if !old.till.After(old.end) {
		return credential{}, errors.New("the ticket cannot be renewed")
	}
	return c.ask(old, c.client.realm, ticketGranting(c.client.realm), true)
}
