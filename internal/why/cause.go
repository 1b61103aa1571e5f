package why

import "time"

// Cause is a code for why a term ended.
type Cause string

// logJustEnds is what a log without a close may mean.
const logJustEnds = "its process was killed or stopped, its machine died, or the log was copied while it ran"

// Causes.
const (
	CauseKilled Cause = "killed" // the log ends without a close: the process was killed, or so
	CausePaused Cause = "paused" // the process did not run
	CauseSlept  Cause = "slept"  // the machine slept
	// the client's clock stood still, or a wall clock was set, while the session ran out
	CauseClockJump        Cause = "time-jump"
	CauseConnectionClosed Cause = "connection-closed" // the server, or something before it, closed the connection
	CauseConnectionBroken Cause = "connection-broken" // the connection broke otherwise: reset, unreachable
	CauseSilent           Cause = "silent"            // nothing came from the server any more
	CauseServerCutOff     Cause = "server-cut-off"    // the server was up and could get nothing confirmed
	CauseSlowEnsemble     Cause = "slow-ensemble"     // answers came, but too late
	CauseSlowLoop         Cause = "slow-loop"         // the client's loop was late although the process ran
	// the deadline passed with a connection; the log does not show why
	CauseUnconfirmed Cause = "unconfirmed"
	// the ensemble ended the session although the client was connected
	CauseSessionExpired Cause = "session-expired"
	CauseSessionRefused Cause = "session-refused" // the session had expired when the client reconnected
	CauseDeleted        Cause = "deleted"         // another client deleted the node
	CauseEvicted        Cause = "evicted"         // a client whose log is there deleted the node
	CauseChanged        Cause = "changed"         // another client changed the node
	CauseClosed         Cause = "closed"
	CauseResigned       Cause = "resigned"
	CauseReturned       Cause = "returned"
	CauseRevoked        Cause = "revoked"
	CauseUnhealthy      Cause = "unhealthy"
	CauseDisabled       Cause = "disabled"      // an operator disabled the server of a job's instance
	CauseCannotDeal     Cause = "cannot-deal"   // the configuration or strategy of a job is not known
	CauseMoved          Cause = "moved"         // a member assigned the shard to another one
	CauseReassigned     Cause = "reassigned"    // somebody who is no member assigned the shard to another one
	CauseNoRights       Cause = "no-rights"     // an access list or a credential forbids what the client needs
	CauseTooLarge       Cause = "too-large"     // an answer is larger than the client's buffer
	CauseRefused        Cause = "refused"       // the ensemble refuses what the client needs, for another reason
	CauseSessionEnded   Cause = "session-ended" // the client ended its session, to get rid of its nodes
	CauseGap            Cause = "gap"           // the log does not have it: the recorder dropped records, or ended
	CauseLeads          Cause = "leads"         // it had not ended when the log did
	CauseUnknown        Cause = "unknown"
)

// Causes that end no term, and delay the next one: see Trouble and Move.Also.
const (
	CauseGivenUp          Cause = "given-up"          // a participant gave its place up, because it could not use it
	CauseForgottenRelease Cause = "forgotten-release" // work went on after its term, so that the node stayed
	CauseBlocked          Cause = "blocked"           // a node without an owner is in the way
	CauseWrongClock       Cause = "wrong-clock"       // a host's wall clock is wrong: it moves nothing, and misleads
)

// Ending says why a term ended.
type Ending struct {
	Cause   Cause
	At      int64         // when belief ended, by the log's clock
	Long    time.Duration // of a pause, a silence or a delay
	Text    string        // a sentence without its subject: "was paused for 9.2 s"
	Records []Ref
}
