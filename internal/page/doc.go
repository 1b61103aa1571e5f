// Package page makes one HTML page of recorded logs: who might believe that it leads, whose node
// stood, what the work knew, why each term ended, every record, and the chart of each machine
// with its state. The page needs no network and no other file, and its policy allows none.
// Everything that a log says is shown as text.
//
//	kept := page.Keep(reader, page.Whole)       // for each log
//	log, err := why.Read("host1", header, kept) // reads through it
//	doc, err := page.New(why.Explain(logs, nil, why.Options{}), rows)
//	html, err := page.HTML(doc, page.File)
//
//	rows.go      what is kept of records
//	document.go  what the page gets, as JSON
//	html.go      the page: its parts in one file, and the policy
//	bundle.go    puts the page's modules into one script
//	assets       the modules: types, decode, model, filter and picture know no browser; the others draw
//
// It may change in any release.
package page
