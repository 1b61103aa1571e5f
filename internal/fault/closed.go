package fault

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// maxEntries is how many entries of an access list an error has, and maxEntry how many bytes of each.
const (
	maxEntries = 8
	maxEntry   = 128
)

// Entry is one entry of an access list.
type Entry struct {
	Perms      int32
	Scheme, ID string
}

// closedError is a refusal by an access list, with that list and what to do.
type closedError struct {
	refusal error
	text    string
}

// Closed returns a refusal by the access list of the node at path. Unread is why the list could not be read.
func Closed(refusal error, path string, list []Entry, unread error) error {
	admits := fmt.Sprintf("the access list of %s, which may not be read, does not admit this client", Path(path))
	if unread == nil {
		admits = fmt.Sprintf("the access list of %s does not admit this client for this, it has %s", Path(path),
			listText(list))
	}
	return &closedError{refusal, admits + "; an operator has to change it, and every participant has to create with " +
		"a list that has all of them: Config.ACL"}
}

func (e *closedError) Error() string {
	return events.Foreign(e.refusal.Error()+": "+e.text, MaxText)
}

func (e *closedError) Unwrap() error { return e.refusal }

// listText returns an access list as --acl takes it, but without the digests of passwords.
func listText(list []Entry) string {
	var parts []string
	for i, entry := range list {
		if i == maxEntries {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		id := entry.ID
		if entry.Scheme == "digest" {
			user, _, _ := strings.Cut(id, ":")
			id = user + ":…"
		}
		if len(id) > maxEntry {
			id = strings.ToValidUTF8(id[:maxEntry], "") + "…"
		}
		perms := ""
		for at, letter := range "rwcda" {
			if entry.Perms&(1<<at) != 0 {
				perms += string(letter)
			}
		}
		parts = append(parts, events.Foreign(entry.Scheme+":"+id, events.MaxText)+":"+perms)
	}
	return strings.Join(parts, ", ")
}

// OfEach returns in one sentence the failures of each server, and which server no failure is known of. Failures
// begin with the name of their server, or are those of all servers.
func OfEach(servers, failures []string) string {
	var reasons []string
	for _, failure := range failures {
		if failure != "" {
			reasons = append(reasons, failure)
		}
	}
	for _, server := range servers {
		if !slices.ContainsFunc(failures, func(f string) bool { return strings.HasPrefix(f, server+": ") }) {
			reasons = append(reasons, server+": no answer is known yet")
		}
	}
	return strings.Join(reasons, "; ")
}
