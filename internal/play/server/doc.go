// Package server serves the playground to browsers: its page, the catalogue of what can be played, and the answers to
// requests of package play.
//
//	handler, err := server.Handler(live.Access{Token: live.NewToken()})
//
// The address has the token, and a browser is answered only under the names that live.Access has: see package
// page/live.
//
// It may change in any release.
package server
