// Package zkio may change in any release; only the root package and zkio/zkmem keep
// their API. It performs effects on a real ZooKeeper ensemble and posts the
// replies as events. It is the only room that knows go-zookeeper.
//
// The types:
//
//	Adapter   takes effects from the loop, posts events to it
//	session   one ZooKeeper session = one keeper; it is never used for a second one
//	keeper    dials, and sends what keeps a session: the connect request, pings and the close
//	wire      one TCP connection, between the keeper and the socket
//	writer    writes the requests of a connection, on one goroutine while there are any
//
// Requests are encoded and
// numbered here: the loop puts them into lanes, and the writer sends all that wait with
// one write. The wire reads everything that a server sends, once, in the order of the
// socket, and posts it. So the loop gets replies and watch events in exact wire order,
// every reply has its zxid and a time before the write that sent the request, and
// nothing depends on which goroutine runs first.
//
// What holds for every request:
//
//   - It gets exactly one reply event, whatever happens.
//   - Requests of one lane are sent in the order of the effects: an urgent one
//     (Call.Urgent: the heartbeat) goes before everything that waits, a delete
//     before everything else.
//   - It is sent on a connection of its own session or not at all.
//   - connection.attached comes before any other event of a connection, and
//     connection.suspended before every reply that the connection's end caused.
//   - All requests of one connection are answered before the next
//     connection.attached.
//   - While the loop stands still (Config.SignOfLife) nothing is sent, pings and
//     handshakes included, and nothing is dialled.
//
// Outcomes: a server's own code; CONNECTIONLOSS if the request was sent and no
// reply came (unknown); NOTSENT if it was never sent (definite), with the
// reason as text; SESSIONEXPIRED if its session is not the live one;
// TOOLARGE if the reply is above Config.MaxAnswer.
//
// Recursive watches (AddWatch) end with their connection. One that would harm another watch of
// the session, or that the ensemble's servers do not know, is not sent: UNIMPLEMENTED, with the
// reason as text (treewatches.go, treesupport.go).
//
// Authentication: digest, x509 and any other scheme that is one message.
// A SASL login is Config.SASL, a Mechanism; Auth refuses it with an error that says so.
package zkio
