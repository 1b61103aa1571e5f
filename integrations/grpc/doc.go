// Package incumbentgrpc has gRPC channels that follow the leader of a line, or the instances of a service, and servers
// that answer only while they lead. It may change in any release.
//
// The side that calls opens a channel to a line. Calls go to its leader; when that changes, the channel knows within
// one watch of ZooKeeper, and calls that are under way go on where they are:
//
//	leaders := incumbentgrpc.Leaders(client, incumbentgrpc.LeaderOptions{})
//	conn, err := grpc.NewClient("incumbent-leader:///jobs/nightly", append(leaders.DialOptions(), creds)...)
//
// The side that serves has a Guard, which refuses calls by the process's own belief: the caller may be wrong about who
// leads, and so may ZooKeeper's view of a process that was paused.
//
//	guard := incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{})
//	server := grpc.NewServer(guard.ServerOptions()...)
//	healthpb.RegisterHealthServer(server, guard.Health())
//	err := latch.Run(ctx, guard.Lead)
//
// # What becomes of a call
//
//   - Nobody leads: it fails at once with UNAVAILABLE, and says so. With grpc.WaitForReady(true) it waits.
//   - The callee does not lead, or leads under a lower token than the one of the leader that the caller knows: it is
//     refused with UNAVAILABLE, was not carried out (Refused), and a waiting unary call is sent again.
//   - The leader dies: it fails with UNAVAILABLE or waits for its deadline, and may have been carried out. Give calls
//     a deadline; keepalive ends those to a host that is gone, or a process that is paused.
//   - The term ends while it is carried out: its context ends, and it fails with ABORTED.
//
// A process can be paused between the Guard's look at the clock and a write. The handler gives the token of
// LeadershipFrom to the stores that it writes to, so that they can refuse.
//
// # Services
//
// Services resolves incumbent:///services/orders to the instances that the package discovery has registered.
//
// # TLS
//
// The authority of these channels is the path, which no certificate has: name what the servers' certificates have by
// grpc.WithAuthority, or by ServerName of the tls.Config. Then somebody who can write to ZooKeeper can send calls
// astray, but cannot answer them.
package incumbentgrpc
