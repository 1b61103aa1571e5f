// Package live serves the page of package page for a directory in which clients record their logs: the page is drawn
// again while records come. It only reads.
//
//	handler, err := live.Handler("/var/log/incumbent", live.Options{Token: live.NewToken()})
//
// A page shows paths, ids and servers, so it is for those who may read the logs: the token stands in the
// address, and a browser is answered only under the names that are expected. Everything else is refused.
//
//	live.go    the handler; access.go who is answered; directory.go reads the logs, bounded.go some of them;
//	           stream.go sends what is new
//
// It may change in any release. The root package does not import net/http; this one does.
package live
