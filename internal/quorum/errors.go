package quorum

// Reason is an error that says why a fault of a server is not possible now.
type Reason string

// Error returns the reason as a clause.
func (r Reason) Error() string { return string(r) }

// The reasons.
const (
	NoLeader   Reason = "no server leads, as far as the others know"
	NotWhole   Reason = "not all servers are up and connected: with one more down there would be no quorum"
	Leads      Reason = "the server leads"
	NotServing Reason = "the server does not serve"
)
