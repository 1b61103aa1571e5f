// Package zkio may change in any release; only the root package and zkio/zkmem keep
// their API. It performs effects on a real ZooKeeper ensemble and brings the
// answers back as events. It is the only room that knows go-zookeeper.
//
// Who does what:
//
//	Adapter   takes effects from the loop, posts events to it
//	session   one ZooKeeper session = one zk.Conn; it is never used for a second one
//	wire      one TCP connection, between zk.Conn and the socket
//
// zk.Conn keeps the session: it redials, pings, numbers the requests and
// encodes them. Everything that a server says is read by the wire, once, in the
// order of the socket, and posted from there; zk.Conn is only told that an
// answer came. So the loop sees replies and watch events in exact wire order,
// every reply carries its zxid and the time it was sent, and nothing depends on
// which goroutine of zk.Conn runs first.
//
// What holds for every request:
//
//   - It gets exactly one reply event, whatever happens.
//   - It leaves in the order in which it was asked for, within its lane: what is
//     urgent (Call.Urgent: the heartbeat) goes past everything that waits, a
//     delete past everything else.
//   - It leaves on a connection of its own session or not at all.
//   - connection.attached comes before any other event of a connection, and
//     connection.suspended before every reply that the connection's end caused.
//   - All requests of one connection are answered before the next
//     connection.attached.
//   - While the loop stands still (Config.SignOfLife) nothing leaves, pings and
//     handshakes included, and nothing is dialled.
//
// Outcomes: a server's own code; CONNECTIONLOSS where the request left and no
// answer came (unknown); NOTSENT where it never left (definite), with the
// reason as text; SESSIONEXPIRED where its session is not the live one;
// TOOLARGE where the answer is above Config.MaxAnswer.
//
// Authentication: digest, x509 and any other scheme that is one message.
// Kerberos (SASL) is not supported and is refused with an error that says so.
package zkio
