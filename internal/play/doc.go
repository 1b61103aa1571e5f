// Package play plays simulated worlds of package world for a person. A Script says which participants
// run which recipe, and what the person does to them and to their servers: the deeds. A link is a script as
// text. [Host.Ask] plays it up to a moment, and returns what happened as the document that package page
// draws, with what only the world knows: who may believe that it leads, what each deed did or why it did
// nothing, and which promises were broken. docs/playground.md shows it.
//
//	script, err := play.ParseLink("1;latch;usual;3;7~8.5:freeze:alice:9@30")
//	answer, err := new(play.Host).Ask(play.Request{Link: script.Link()})
//
// An answer is a function of the request alone: it is the same, byte for byte, from a server and
// in a browser. If a deed is taken out or added, only what it caused changes.
//
//	names.go      recipes, scenarios, participants; verbs.go deeds; bugs.go bugs that are planted by name
//	script.go     what is played; link.go as text, strictly read; build.go as a script of package world
//	run.go        a world that runs; servers.go what is kept of its servers; outcomes.go what deeds did
//	promises.go   what is checked while it runs; belief.go and sharedpromises.go the checks
//	document.go   the document of a run; view.go how things stand
//	host.go       answers requests; whatif.go from when on two worlds differ
//	lessons.go    scripts to begin with; random.go drawn ones; catalogue.go all that a page offers
//
// This package is for tools, not for programs that elect a leader. It may change in any release.
package play
