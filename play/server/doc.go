// Package server serves the playground to browsers: its page, what it offers, and the answers of worlds.
//
//	handler, err := server.Handler(live.Access{Token: live.NewToken()})
//
// The token stands in the address, and a browser is answered only under the names that are expected: see package page/live.
//
// It may change in any release.
package server
