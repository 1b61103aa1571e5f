package kerberos

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/krberror"
)

// code finds the number of a KDC's error in the text of gokrb5's, which does not wrap it.
var code = regexp.MustCompile(`KRB Error: \((\d+)\) ?`)

// meanings are what the errors of a KDC mean to those who set up the client.
var meanings = map[int32]string{
	errorcode.KDC_ERR_NAME_EXP:            "the client's principal has expired",
	errorcode.KDC_ERR_SERVICE_EXP:         "the server's principal has expired",
	errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN: "the KDC does not know the client's principal",
	errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN: "the KDC does not know the server's principal, which has the host's name",
	errorcode.KDC_ERR_ETYPE_NOSUPP:        "the KDC has no cipher in common with the client",
	errorcode.KDC_ERR_CLIENT_REVOKED:      "the client's principal is locked",
	errorcode.KDC_ERR_KEY_EXPIRED:         "the client's key has expired: change it",
	errorcode.KDC_ERR_PREAUTH_FAILED:      wrongKey,
	errorcode.KRB_AP_ERR_TKT_EXPIRED:      "the ticket has expired",
	errorcode.KRB_AP_ERR_TKT_NYV:          "the ticket is not valid yet: compare this host's clock with the KDC's",
	errorcode.KRB_AP_ERR_SKEW:             skewed,
	errorcode.KDC_ERR_WRONG_REALM:         "the principal is of another realm",
}

const skewed = "clock skew: the clocks of this host and the KDC differ by more than is permitted, 5 minutes by default"

const wrongKey = "the key is not the principal's"

// passing are errors of a KDC that has troubles of its own, or that has had the same message before: the next is
// another.
var passing = []int32{errorcode.KDC_ERR_SVC_UNAVAILABLE, errorcode.KRB_ERR_GENERIC, errorcode.KRB_AP_ERR_REPEAT}

// explain says what an error of gokrb5 means, and whether it may pass.
func explain(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	var theirs krberror.Krberror
	_ = errors.As(err, &theirs)
	if theirs.RootCause == krberror.NetworkingError { // its text may have an error of the KDC by UDP before it
		return unanswered{fmt.Errorf("no KDC answers: %s", last(text))}
	}
	if found := code.FindStringSubmatch(text); found != nil {
		n, _ := strconv.ParseInt(found[1], 10, 32)
		return explainCode(int32(n))
	}
	if strings.Contains(text, "clock skew") {
		return errors.New(skewed)
	}
	switch theirs.RootCause {
	case krberror.DecryptingError: // with the key of a ticket: anybody could have sent the message
		return unanswered{errors.New("the KDC's answer cannot be decrypted")}
	case krberror.EncodingError: // of a message, which anybody could have sent
		return unanswered{fmt.Errorf("the KDC's answer cannot be read: %s", last(text))}
	}
	return err
}

// explainLogin is explain for a login with a keytab.
func explainLogin(err error) error {
	var theirs krberror.Krberror
	if errors.As(err, &theirs) && theirs.RootCause == krberror.DecryptingError {
		return errors.New(wrongKey + ", it does not decrypt the KDC's answer: make a new keytab")
	}
	if err = explain(err); err != nil && strings.HasPrefix(err.Error(), wrongKey) {
		return fmt.Errorf("%w: make a new keytab", err)
	}
	return err
}

func explainCode(n int32) error {
	name := strings.TrimSpace(errorcode.Lookup(n))
	if meaning := meanings[n]; meaning != "" {
		return fmt.Errorf("%s: the KDC says %s", meaning, name)
	}
	err := fmt.Errorf("the KDC says %s", name)
	if slices.Contains(passing, n) {
		return unanswered{err}
	}
	return err
}

// wrapping is what gokrb5 has around the reason.
var wrapping = regexp.MustCompile(`^.*(error sending to a KDC|(TCP|UDP) \(|error (reading|unmarshal+ing)[^:]*): |` +
	`error setting (dial timeout|deadline) on connection to \S+: |error sneding to \S+: |^\w+_Error: `)

// last returns the innermost part of gokrb5's text.
func last(text string) string {
	parts := strings.Split(text, " < ")
	return wrapping.ReplaceAllString(parts[len(parts)-1], "")
}
