// Package why explains why leadership moved: from the flight recorder's logs of any number of
// clients, and ZooKeeper's own transaction logs where there are any, it finds the terms, what
// ended each and why, who followed, and whether two ever had the right to believe at once.
// Records in, facts and sentences out: it reads no clock, no file and no network.
//
//	log, err := why.Read("host1", reader)         // for each client
//	report := why.Explain(logs, txns, why.Options{})
//
// What it says is only what the records show. If they do not show a thing, it says which log
// would, and never guesses: see Cause, Proof and Report.Verdict.
//
//	log.go          what is known of one client; read.go reads it, effect.go what its effects say; terms.go the terms
//	                in them; notes.go other lines
//	clock.go        how far the clocks of the hosts are apart, with the error; envelope.go between two samples;
//	                shownclock.go the clock that a report shows
//	history.go      what all logs together say of nodes and sessions, which gather.go finds; place.go the places of
//	                clients without a log, markers.go those of a job's leaders; ensembles.go whether all are of one
//	                ensemble
//	cause.go        why a term ended, which ending.go finds; loss.go those that come by the connection, logsend.go by
//	                the log's end, pauses.go by a clock
//	trouble.go      what kept participants from leading; nodeend.go what became of a node; duplicatelogs.go two logs
//	                of one client; missing.go what no log has: a place in a line; truncated.go terms whose beginning
//	                is missing, truncatedtext.go sentences about them
//	proof.go        which of two terms was first, and how that is known
//	items.go        how a job's items were dealt and taken over
//	shards.go       the terms of shards, and their assignments; shardplans.go what all logs have of those;
//	                shardmove.go why a member gave a shard up; shardgroup.go a group at a glance; shardmerge.go what
//	                many have in common; pictureshards.go as lanes
//	barrierstays.go the times inside a double barrier
//	report.go       what a report has; explain.go makes it; moves.go the moves of each line and the verdict;
//	                permits.go those of a semaphore; scope.go which of them were asked for; noterms.go why there is
//	                none
//	linesummary.go  a line at a glance; summary.go makes it; led.go its terms; reasons.go all that was wrong when one
//	                ended; skipped.go who did not lead although it was ahead; intheway.go who waits; advice.go what
//	                to do
//	story.go        sentences; lines.go the report as lines; text.go times and names in them
//	facts.go        the same as values for programs; trace.go for trace viewers; redact.go without names
//
// It may change in any release.
package why
