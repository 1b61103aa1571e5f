// Package zkmem is an in-memory ZooKeeper for real clients: it speaks ZooKeeper's wire protocol over TCP or over
// any net.Conn, keeps nothing on disk, starts in microseconds, and fails in the ways that a test asks for.
//
//	srv := zkmem.Start(t) // closed with the test
//	client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
//	conn, _, err := zk.Connect([]string{srv.Addr()}, 4*time.Second) // or any other client
//
// docs/testing.md shows how to test a service of your own with it.
//
// The package keeps its API from version 1 of the module on, which is not published yet.
//
// There are three main types. [Tree] is the data, as a pure type: it applies numbered transactions, without clock,
// goroutine or lock. [Server] is one Tree served to clients, with sessions, watches and hooks for tests. [Ensemble] is
// several servers with one history. A browser (js) gets the Tree alone.
//
// # What it does
//
// It does all of a standalone ZooKeeper 3.9, or 3.8.0 ([Options].Release), that a client of leader election uses:
// sessions with re-attachment and expiry at tick boundaries, persistent, ephemeral, sequential and container nodes,
// full Stats, ACLs (world, auth, digest, ip, sasl), multi and multiRead, watches in the server's order (one-shot,
// persistent and recursive), whoAmI, the counts of quotas, and the four-letter words but stmk. As on a real server,
// nodes with a TTL ([Options].ExtendedTypes) and the super user ([Options].SuperDigest) have to be switched on, and so
// has reconfig in an ensemble ([Options].Reconfig). Clients with a certificate have its identity ([Server.ListenTLS]),
// and a server may require one ([Options].EnforceAuth). A differential test runs the same operations against it and
// against the real server of its release.
//
// # What its releases do in their own way
//
//   - exists of a node that may not be read is refused by 3.9, and answered by 3.8.0 ([Options].ExistsNeedsRead).
//   - A watch event names its transaction in 3.9.
//   - Watches of different modes on one path live side by side in 3.9. In 3.8.0 the last one replaces the others.
//   - checkWatches and removeWatches know the modes in 3.9, and only the own watches.
//   - In a multi, 3.9 answers create2 and createContainer as such, and refuses the whole for bad flags or a null
//     access list.
//   - A client may send deleteContainer to 3.9, for any node that no session owns. A check alone ends its connection,
//     and is not answered by 3.8.0.
//   - A write that cannot be decoded uses up no zxid in 3.9, unless it is a multi.
//   - A recursive watch counts once in 3.9. wchs and wchc leave out who has removed all watches.
//
// # What a test can ask of it
//
//   - Lose or refuse something: [Server.Intercept] decides about each handshake and request; [Server.CutNext] and
//     [Server.CutSession] end a connection after a number of bytes; [Server.Disconnect] ends it immediately.
//   - Be silent: [Server.Freeze] in one direction or both, then [Server.Heal]; [Server.RefuseConnections].
//   - End a session: [Server.ExpireSession].
//   - Act as an operator: [Server.Create], [Server.Set], [Server.Delete], [Server.SetSequence], or any [Op] by
//     [Server.Do].
//   - Stop, start, go back in time: [Server.Stop] and [Server.Restart]; [Server.Snapshot], [Server.Restore] and
//     [Server.Wipe]; let time pass: [Server.Advance].
//   - Report: [Server.WaitFor] waits for a state, [Server.View] shows it, [Server.Counts] counts requests,
//     [Server.OnApply] passes on the transactions.
//   - Imitate another server: see [Options].
//   - Have the members of an ensemble lose each other: [Ensemble.Isolate], [Ensemble.Freeze], [Ensemble.Lag],
//     [Ensemble.Depose]. [Server.Stop] and [Server.Restart] of each in turn are a rolling restart. [Ensemble.Remove]
//     and [Ensemble.Add] reconfigure.
//
// # What it is not
//
// Not durable, not fast on purpose, and not safe to expose: it is bounded against broken clients, but an
// interceptor or an operator's call may do anything.
//
// # Where it differs from ZooKeeper
//
//   - SASL is DIGEST-MD5, and no Kerberos. A real 3.8.0 accepts an unknown user with the password of the one who has
//     logged in before it, which this one refuses. Quotas are counted and not enforced, which is ZooKeeper's default.
//   - A multiRead with a write in it, or with a path that is null, is refused without the body that a real server sends
//     behind the error. So is a multi with such a path, for which 3.8.0 uses up a zxid without naming it.
//   - Lists of children are sorted; a dying session's nodes are deleted in sorted order. A real server has no order
//     there.
//   - The sequence counter stays at 2147483647 and gives out duplicates, as on the real server; within one multi it
//     goes on to negative numbers. A real server may do so for requests that merely overlap, too.
//   - A path that is echoed comes back as it was sent. A real server gives back replaced or re-encoded what is not in
//     Unicode's basic plane, or not UTF-8. Neither lets a node have such a name.
//   - mntr and envi show fewer figures, and latencies are 0.
//   - An ensemble elects a leader in no time. The member with the longest history wins, of these the one with the
//     highest number. What a leader had not committed is lost with its term, though a real one's may survive.
//   - No member listens for the others: the ports for that in the configuration are made up. It may name servers that
//     do not run.
//   - The configuration names the addresses where clients are served, as its members get them ([Ensemble.Advertise]).
//   - A read-only member gives its clients sessions of their own, as a real one with localSessionsEnabled does. A 3.8.0
//     without that gives them none.
//   - A reconfig that cannot be decoded is refused. It ends the service of a real leader of 3.8.0.
//
// # Rules of use
//
// A request is served under one lock, alone: what it does and the watch events it causes are one step. Never sleep in a
// test: wait with [Server.WaitFor] for the state itself. Hooks act on the server only; the
// client's reaction is its own.
package zkmem
