// Package play is a playground of package world: a Script says who takes part, in what, and what
// a person does to them. A link holds all of it. Ask plays it up to a moment, and returns what
// happened as the document that package page draws, with what only the world knows: who may
// believe, what each deed did or why nothing, and which promises were broken.
//
//	script, err := play.ParseLink("1;latch;usual;3;7~8.5:freeze:alice:9@30")
//	answer, err := new(play.Host).Ask(play.Request{Link: script.Link()})
//
// An answer is a function of the request alone: it is the same, byte for byte, from a server and
// in a browser. Taking a deed out, or adding one, changes only what it caused.
//
//	names.go      recipes, scenarios, participants; verbs.go deeds; bugs.go bugs that are planted by name
//	script.go     what is played; link.go as text, strictly read; build.go as a script of package world
//	run.go        a world that runs; servers.go what is kept of its servers; outcomes.go what deeds did
//	promises.go   what is checked while it runs; belief.go and shared.go the checks
//	document.go   the document of a run; view.go how things stand
//	host.go       answers requests; whatif.go where two worlds part
//	lessons.go    scripts to begin with; random.go drawn ones; catalogue.go all that a page offers
//
// It is for tools, not for programs that elect a leader: it may change in any release.
package play
