package kerberos

import "strings"

// says reports whether an error has a text.
func says(err error, want string) bool { return err != nil && strings.Contains(err.Error(), want) }

// same reports whether two tickets are one.
func same(a, b credential) bool {
	return string(a.ticket.EncPart.Cipher) == string(b.ticket.EncPart.Cipher)
}
