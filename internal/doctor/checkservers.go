package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/zkio"
)

// checkReachable finds servers that open no session.
func checkReachable(f *Facts) (all []Finding) {
	severity := Warning
	if len(f.serving()) == 0 && !slices.ContainsFunc(f.servers, func(v *Server) bool { return v.cut }) {
		severity = Unfit
	}
	for _, v := range f.servers {
		switch {
		case v.Serves || v.cut || errors.As(v.refused, &refusedLogin{}):
		case v.Certificate != nil && v.Certificate.Days < 0: // found as that
		case v.Role == roleReadOnly:
			all = append(all, Finding{ID: "read-only", Severity: severity, Where: v.Address,
				Is: "It is cut off from its ensemble, and serves only those who ask for a read-only server.",
				Do: "Find out why it does not reach the other servers: nobody can lead through it."})
		default:
			all = append(all, Finding{ID: "unreachable", Severity: severity, Where: v.Address,
				Is: "It opens no session: " + v.Why + ".",
				Do: v.mending()})
		}
	}
	return all
}

// mending says what to do about a server that opens no session.
func (v *Server) mending() string {
	var authority x509.UnknownAuthorityError
	var plain tls.RecordHeaderError
	switch err := v.failed; {
	case v.noQuorum:
		return "It runs, and has no quorum: start the other servers, or mend the network between them."
	case errors.As(err, &unresolved{}) && !v.Given:
		return "The ensemble's configuration names it so: clients with Config.FollowEnsemble would not reach it."
	case errors.As(err, &unresolved{}):
		return "Correct the name in the list, or the resolver of this host."
	case errors.As(err, &authority):
		return "Give the authority of its certificate: --tls-ca, Config.TLS."
	case errors.As(err, &plain):
		return "Name its secureClientPort, or leave TLS out: this port is not for TLS."
	case strings.Contains(v.Why, "the certificate is for"):
		return "Name it in the list as its certificate does, or issue one for that name."
	case strings.HasPrefix(v.Why, "TLS"):
		return "Check that this is its secureClientPort, and the certificates of both sides."
	case errors.Is(err, errMalformed):
		return "Check the port: it is not the one for clients of a ZooKeeper server."
	case errors.As(err, &notOpened{}) && v.Role != "":
		return "It says that it serves: look in its log whether its maxClientCnxns is reached."
	case errors.As(err, &notOpened{}):
		return "It has no quorum, or the port is for TLS: start the other servers, or set TLS (--tls-ca)."
	}
	return "Start or mend it, or take it out of the list: after one more failure the ensemble may have no quorum."
}

// checkSilence finds servers that open sessions, and leave requests without an answer.
func checkSilence(f *Facts) (all []Finding) {
	severity := Unfit
	for _, v := range f.answering() {
		if f.settings.failures.of(v.Address) == nil {
			severity = Warning
		}
	}
	for _, v := range f.ours() {
		err := f.settings.failures.of(v.Address)
		if err == nil {
			continue
		}
		finding := Finding{ID: "no-answer", Severity: severity, Where: v.Address,
			Is: "It left a request without an answer: " + text(err) + ".",
			Do: "Look at its log, its disk and its pauses: clients there lose their sessions."}
		if v.mute {
			finding.Is = "It opens a session, and answers no request: " + text(err) + "."
		}
		all = append(all, finding)
	}
	return all
}

// checkCredentials finds servers that refuse the login.
func checkCredentials(f *Facts) (all []Finding) {
	for _, v := range f.servers {
		if v.refused != nil && errors.As(v.refused, &refusedLogin{}) {
			all = append(all, Finding{ID: "login-refused", Severity: Unfit, Where: v.Address,
				Is: "It does not let this client in: " + text(v.refused) + ".",
				Do: "Check the user and the password or ticket: the server's log says why."})
		}
	}
	return all
}

// checkEnsemble finds servers of another ensemble, and those that have another configuration.
func checkEnsemble(f *Facts) (all []Finding) {
	var first *Server
	for _, v := range f.serving() {
		if v.stranger {
			all = append(all, Finding{ID: "other-ensemble", Severity: Unfit, Where: v.Address,
				Is: "It does not know a session that another server of the list has just opened: it is of " +
					"another ensemble, or forgets sessions.",
				Do: "Take it out of the list: a client there can lead while another leads here."})
			continue
		}
		switch {
		case v.configErr != "" || v.mute:
		case first == nil:
			first = v
		case configVersion(v.config) != configVersion(first.config):
			all = append(all, Finding{ID: "config-differs", Severity: Warning, Where: v.Address,
				Is: fmt.Sprintf("Its /zookeeper/config has the version %q, that of %s %q.",
					configVersion(v.config), first.Address, configVersion(first.config)),
				Do: "Compare both, and find out why a reconfig did not reach it."})
		}
	}
	return all
}

// checkLeader finds an ensemble in which all servers said their role, and not exactly one leads.
func checkLeader(f *Facts) []Finding {
	var leaders []string
	var leading []*Server
	for _, v := range f.servers {
		if v.Serves && (v.Role == "" || v.Role == roleStandalone) || !v.Serves || v.stranger {
			return nil
		}
		same := func(o *Server) bool { return v.same(o) }
		if v.Role == roleLeader && !slices.ContainsFunc(leading, same) {
			leading, leaders = append(leading, v), append(leaders, v.Address)
		}
	}
	switch {
	case len(leaders) > 1:
		return []Finding{{ID: "two-leaders", Severity: Unfit, Where: ensemble,
			Is: "More than one server says that it leads: " + strings.Join(leaders, ", ") + ".",
			Do: "Look again in some seconds: a deposed leader steps down; if both stay, these are two ensembles."}}
	case len(leaders) == 0 && len(f.servers) > 1 && len(f.servers) >= len(f.members):
		return []Finding{{ID: "no-leader", Severity: Warning, Where: ensemble, Is: "No server says that it leads.",
			Do: "Name the servers that are missing in the list, or look again in some seconds."}}
	}
	return nil
}

// checkList finds a list of servers that is not that of the ensemble's configuration.
func checkList(f *Facts) (all []Finding) {
	named := slices.ContainsFunc(f.members, func(m member) bool { return m.address != "" })
	var missing []string
	for _, v := range f.servers {
		switch {
		case !v.Given:
			missing = append(missing, v.Address)
		case named && v.Serves && !v.Listed && !v.stranger && v.config != "":
			all = append(all, Finding{ID: "not-listed", Severity: Warning, Where: v.Address,
				Is: "The ensemble's configuration does not name this address.",
				Do: "Check whether the server was removed from the ensemble; if clients only reach it by another " +
					"name, nothing is wrong."})
		}
	}
	if len(missing) > 0 {
		all = append(all, Finding{ID: "list-incomplete", Severity: Note, Where: ensemble,
			Is: "The list does not have all servers of the ensemble: " + strings.Join(missing, ", ") + ".",
			Do: "Name them, too, or set Config.FollowEnsemble: else clients have fewer servers to go to."})
	}
	return all
}

// checkChroot finds a chroot that does not exist.
func checkChroot(f *Facts) (all []Finding) {
	if slices.ContainsFunc(f.serving(), func(v *Server) bool { return v.noChroot && !v.stranger }) {
		all = append(all, Finding{ID: "no-chroot", Severity: Unfit, Where: f.settings.Chroot,
			Is: "The chroot does not exist.",
			Do: "Create it: no client does so."})
	}
	return all
}

// checkWords finds servers that do not say who they are.
func checkWords(f *Facts) (all []Finding) {
	for _, v := range f.serving() {
		if len(v.silentWords) > 0 && !v.admin {
			all = append(all, Finding{ID: "words-closed", Severity: Note, Where: v.Address,
				Is: "It does not answer the words " + strings.Join(v.silentWords, ", ") +
					", nor does its admin server.",
				Do: "To know more, add them to its 4lw.commands.whitelist, or give the admin server's port with " +
					"--admin-port."})
		}
	}
	return all
}

// checkVersion finds releases that are not supported, several of them, and known faults.
func checkVersion(f *Facts) (all []Finding) {
	seen := map[release][]string{}
	var order []release
	for _, v := range f.serving() {
		if v.release.Known() {
			if seen[v.release] == nil {
				order = append(order, v.release)
			}
			seen[v.release] = append(seen[v.release], v.Address)
		}
	}
	for _, r := range order {
		where := strings.Join(seen[r], ", ")
		if r.Before(zkio.OldestRelease) {
			all = append(all, Finding{ID: "old-version", Severity: Warning, Where: where,
				Is: fmt.Sprintf("It is ZooKeeper %s, older than %s.", r, zkio.OldestRelease),
				Do: "Upgrade: older servers are supported only as far as they were tried."})
		}
		for _, known := range touching(r) {
			all = append(all, Finding{ID: "known-fault", Severity: known.severity, Where: where, Fault: known.number,
				Is: fmt.Sprintf("ZooKeeper %s has %s: %s.", r, known.number, known.is), Do: sentence(known.do)})
		}
	}
	if len(order) > 1 {
		all = append(all, Finding{ID: "versions-differ", Severity: Note, Where: ensemble,
			Is: fmt.Sprintf("The servers are of %d releases.", len(order)),
			Do: "Bring all to one release when the upgrade is over."})
	}
	return all
}

// sentence returns a text with a capital at its beginning and a full stop.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }
