package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// endsSoon is how many days before its end a certificate is found.
const endsSoon = 14

// checkCertificates finds certificates that end soon.
func checkCertificates(f *Facts) (all []Finding) {
	add := func(where, whose string, c *Certificate) {
		if c == nil || c.Days >= endsSoon {
			return
		}
		finding := Finding{ID: "certificate-ends", Severity: Warning, Where: where,
			Is: fmt.Sprintf("%s ends at %s, in less than %s.", whose, c.NotAfter.Format(time.RFC3339),
				plural(c.Days+1, "day")),
			Do: "Renew it: nobody connects afterwards."}
		if c.Days < 0 {
			finding.Severity, finding.Is = Unfit, fmt.Sprintf("%s has ended, at %s.", whose,
				c.NotAfter.Format(time.RFC3339))
		}
		all = append(all, finding)
	}
	for _, v := range f.servers {
		add(v.Address, "Its certificate, or one above that,", v.Certificate)
	}
	add("this client", "The client's own certificate", f.own)
	return all
}

// checkNames finds names of the list that are of one server, and those whose addresses changed meanwhile.
func checkNames(f *Facts) (all []Finding) {
	for i, v := range f.servers {
		if v.again != nil && !slices.Equal(v.again, v.Resolved) {
			all = append(all, Finding{ID: "resolves-differently", Severity: Warning, Where: v.Address,
				Is: fmt.Sprintf("Its name had the addresses %s, and then %s.", strings.Join(v.Resolved, ", "),
					strings.Join(v.again, ", ")),
				Do: "Ask the resolvers of this host why they disagree: clients go to different servers by one name."})
		}
		if v.twice {
			all = append(all, Finding{ID: "same-address", Severity: Warning, Where: v.Address,
				Is: "The list names it more than once.", Do: "Name each server once."})
		}
		same := func(o *Server) bool { return o.Given && v.same(o) }
		if other := slices.IndexFunc(f.servers[:i], same); v.Given && other >= 0 {
			all = append(all, Finding{ID: "same-address", Severity: Warning, Where: v.Address,
				Is: "It is the same server as " + f.servers[other].Address + ".",
				Do: "Name each server once: clients would count one server as two."})
		}
	}
	return all
}

// maxOffset is how far the clock of a server may be from this host's before it is found.
const maxOffset = 2 * time.Second

// checkClocks finds clocks of servers that are wrong, or run too fast or too slowly.
func checkClocks(f *Facts) (all []Finding) {
	for _, v := range f.servers {
		c := v.Clock
		if c == nil {
			continue
		}
		offset, err := time.Duration(c.Offset), time.Duration(c.Error)
		if offset.Abs() > maxOffset+err {
			all = append(all, Finding{ID: "wrong-clock", Severity: Warning, Where: v.Address, Number: millis(offset),
				Is: fmt.Sprintf("Its clock differs from this host's by %s (known to %s, by %s).", short(offset),
					short(err), c.From),
				Do: "Set the clocks of all hosts by NTP: the promises need none of them, but ages in status and " +
					"times in why do."})
		}
		fast := c.Rate - 1
		switch {
		case c.Rate == 0:
		case fast-c.RateError > maxDrift:
			all = append(all, Finding{ID: "drifting-clock", Severity: Unfit, Where: v.Address,
				Is: fmt.Sprintf("Its clock runs %.1f %% faster than this host's: sessions end before belief "+
					"does.", 100*fast),
				Do: "Mend the clock of that host, or of this one: from 2.5 % on promises 1 to 3 do not hold."})
		case fast+c.RateError < -maxDrift:
			all = append(all, Finding{ID: "drifting-clock", Severity: Warning, Where: v.Address,
				Is: fmt.Sprintf("Its clock runs %.1f %% more slowly than this host's.", -100*fast),
				Do: "Mend the clock of that host, or of this one: takeovers come later."})
		}
	}
	return all
}

// maxDrift is by how much the rates of two clocks may differ: belief has a fortieth of the session timeout for it.
const maxDrift = 1.0 / 40
