// Package events may change in any release; only the root package and zkio/zkmem keep
// their API. (Of this package they name [Code] and [Mode], which stay with them.)
//
// It has the values that all other packages exchange: what can happen (Event), what a
// machine may ask for (Effect), and the line of the flight recorder that joins the two
// (Record), with the JSON Lines log that has these lines.
//
// All of them are plain data, without error values, functions or channels. So every
// event can be written down, read back and fed to the same machines again. The package
// imports the standard library only.
//
// The path of a value through the program:
//
//	Envelope{To, Event} → a machine's row → []Effect → an executor → Envelope …
//
// A Record is written for every step of that path that a machine took.
package events
