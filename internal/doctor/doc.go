// Package doctor asks an ensemble what the promises rest on, and says whether it is fit for them: is each server
// reachable, of one ensemble and not behind; which session timeouts does it grant; what is its tick; what may a
// stranger do?
//
//	report := doctor.Examine(ctx, doctor.Settings{Servers: servers, Timeout: 15 * time.Second})
//
// It asks first and judges afterwards. Facts are what was asked and answered. A check is a function with a name that
// gets the facts and returns findings. What could not be asked is listed, and no check guesses at it. Nothing is
// written but sessions, which it closes, and, with Settings.Deep, one scratch node, which it deletes.
//
//	settings.go   what is to be asked, and how long each step may take
//	frames.go     ZooKeeper's protocol, session.go a session on one connection; network.go connections,
//	              certificate.go TLS
//	fourletter.go four-letter words, admin.go the admin server, version.go releases and their known faults
//	ask.go        asks; server.go one server, ensemble.go who is in the ensemble, line.go a line, deep.go with a
//	              scratch node
//	facts.go      what was answered; meaning.go what follows for a client
//	finding.go    a finding; checks.go the list of the checks, which are in the files check….go
//	report.go     the report, with its JSON; text.go the same for people
//
// It may change in any release; the JSON of Report is that of the command, and stays.
package doctor
