// Package web makes the page of the playground: worlds of real machines, what is done to them, and what comes of it.
// The page knows no machine: it edits the text of a link, has it answered, and draws the answer with the modules of
// package page.
//
//	html, err := web.HTML(web.Server)   // what serves it answers "ask" and "catalogue" next to it: see package play
//	files, err := web.Site()            // a static site, without the program that plays worlds: see cmd/gensite
//
//	web.go   the page, and its policy
//	assets   the modules: link, known and marks know no browser; the others draw; worker.js runs in a Worker
//
// It may change in any release.
package web
