// Package small goes through small worlds of the product's own engine and
// machines, state by state, until everything that can happen has: no seed, no
// luck. Where test/worlds/sim is wide, this is complete.
//
//	world.go    a state: an ensemble, clients, what is on its way between them, the clock
//	client.go   one process: the real engine, and the executor with zkio's guarantees
//	server.go   the server's side: requests, watches, the end of connections and sessions
//	tree.go     what the server of test/worlds/oneserver shows of the line
//	steps.go    what can happen next, faults included, and what comes of it
//	refusals.go what access rights refuse
//	checks.go   the promises, held against every state
//	canon.go    when two worlds are the same state; models.go for the machines' own fields
//	fork.go     a copy of an engine
//	search.go   breadth first
//	live.go     who is able to lead, what a fair run owes, and backwards from the leaders
//	fair.go     cycles without a leader that a fair run need not leave
//	trace.go    a counterexample as a person reads it, and its logs
//	plants.go   bugs planted on purpose: the search must be able to fail
//	liveplants.go  the same, of bugs that no single state shows
//	shards.go   members that own shards, in place of latches; shardscanon.go and shardplants.go for them
//	jobs_test.go   a job's leader and workers, killed or cut at each of their writes
//
// # What is explored
//
// Every participant is a latch in a process of its own, whose program awaits
// leadership, works, and awaits it again. Time is a clock that moves by a unit, a
// quarter of the session timeout, which is the period of the heartbeat; belief
// lasts two units, and a session of which the ensemble has heard nothing for two
// may be over at any moment from then on (that is earlier than any server
// would). Between two moves of the clock everything takes no time, in every order.
//
// Zkio's promises are kept: one reply for each request, lanes, replies and watch
// events of one connection in the server's order, suspended before the replies
// that the end of the connection caused, watches set again in either order. Its
// freedoms are used: of what was on its way any part may have been carried out,
// and of what came back any part may have been read.
//
// Faults, of which each path has a number: a connection is cut, before the
// requests leave or after they were carried out, with any part of the answers
// read; nothing comes from the server any more (so watch events are late); nothing
// gets to it any more; the server is cut off from its leader, answers reads and
// confirms nothing; the process stands still; the next server lags; an operator
// deletes any node, sets its data, or ends a session; leadership is resigned. What
// follows from a fault is free: it lasts up to three units, connections are made
// again sooner or later, sessions expire or do not.
//
// Four more faults are in the worlds that name them (Refusals): an operator forbids a
// client, without end, to list the line or to read its own node (the heartbeat's check
// is refused, too), one such read is refused, or one create is carried out and answered
// by a code that says nothing about it. At least one client may do everything.
// Config.Hung makes worlds in which work never returns.
//
// # What is held against every state
//
// At most one believes, whether or not its loop had its turn. Belief lies within
// the life of the own node, which this session owns and which is first in line;
// who was robbed by an operator believes until the news can have come. (Sessions end
// after half a timeout here, sooner than on servers, so AloneUntil is not checked.) Tokens
// grow. Started and stopped alternate; nothing new begins while work runs. Once
// all is quiet each has one node at the most. Every answer and timer that a
// machine awaits is on its way, and every state that waits has a watch, an answer
// or a timer to wake it. Nothing panics.
//
// # What is held against every run
//
// A client is able to lead if access rights refuse it nothing and its program has no
// work that never returns. A state is vacant if a client is able and none leads. The
// search keeps the steps between all states, and asks two questions when no fault
// happens any more. Is there a way from every vacant state to a leader? And does every
// fair run reach one? A run is fair unless one of these stays possible in all its
// states from some moment on and never happens:
//
//   - a client's loop takes out the next message, or a timer fires
//   - a server answers a client's request
//   - a client that has no connection gets one, to any server
//   - a process that stands still goes on, or a link is mended
//   - a server that lags catches up
//   - work returns, unless the world is one of Config.Hung
//   - the clock moves on
//
// Sessions need not expire, and a connection whose link has failed need not be cut. A
// run without end stays in a strongly connected component of the vacant states at last.
// The component breaks the rule if it has a cycle and each of these steps either is
// impossible in one of its states or happens inside it (this is weak fairness; for it
// the largest components are enough). Two worlds can be one state under other names, so
// participants are followed from seat to seat through the component. The trace is the
// way to it and then a round that can be repeated without end.
//
// There is one exception, and [Config].Hung is the only world that has it: unreleased
// work holds its place. A state is not vacant if the first in line has ended its term
// and its work never returns.
//
// Time makes no state of its own, because all times are counted from now. At the edge of
// a search that was cut short, a run without faults has to find a leader.
//
// # A job
//
// The state of a job's dealer and workers is too large for that search: a tree of nodes, and five machines in a
// process. jobs_test.go has for them what matters most, in full. In one small world of package sim, whose roles and
// checks it uses, the leader deals the items of a job to three processes, which run them; the job changes meanwhile.
// The world is played again for each write that the leader or a worker sends: the process is killed before it or after
// it, or its connection is cut before it or after it. Each time all items have to be dealt to somebody who lives, to
// run at one instance at a time, and to be taken over; and no mark and no flag stays.
//
// # Shards
//
// In a world of Config.Shards each participant is a member of a group that owns shards. The first one owns all when the
// search begins; the others come then, and the second has three times its weight, so that one of two shards moves to
// it. The work on a shard lasts until it has to return, and returns at any time after that; of several shards, the
// lowest first. One more fault: an operator deletes the assignment.
//
// In every state each shard has one owner who believes in it at most, within the life of that member's node, which says
// so; one node at most says that a shard is owned, and it says so until the work has returned; tokens of a shard grow.
// In every step a member claims only what is assigned to it. A state is vacant if a shard has no owner: so somebody
// assigns, no shard is forgotten, and an orphan is taken over. The timer after which nodes are read again never fires:
// watches are enough. Members differ by id and weight, so no two of them change seats.
//
// # How it stays small
//
// Two worlds are one state if they differ only in names: GUIDs, session ids,
// zxids, sequence and request numbers, the time of day, and which participant is
// called A. TestOneDigestOneState compares what follows from worlds that were
// taken for one.
//
// Some steps are taken before all others, because to take them later comes to the
// same: that a loop takes out a message (others can only add to what lies behind
// it, and to find the message lost, or not yet come, are faults that are explored
// in its place); that a timer rings for a client for which nothing else is on its
// way; that a heartbeat is answered on a sound connection. Config.Every switches
// this off: it finds no more, in three times the time.
//
// # What came of it
//
// States, steps between them, and the greatest number of steps that a state needs at
// least. All are in full, unless it says otherwise, and without a violation:
//
//	2 participants, 1 fault, from before they connect          112393   167661   95
//	the same, disconnects ridden out                           115680   172533   96
//	3 participants, 1 fault, from connected on                 107247   158645  139
//	3 participants, 1 fault, to depth 40                       558103   849976   40
//	1 participant, 2 faults, from connected on                  95837   173729   52
//	2 participants, 1 fault, from connected on, every order    161645   484070   85
//	2 participants, 2 faults (delete, a read refused once)      11122    14594   72
//	2 participants, 2 faults (cut, a read refused once)         66285   100532   93
//	3 participants, 1 fault, work never returns                 77772   112579  139
//
//	1 member, 2 shards, 1 fault                                 21310    32185   67
//	2 members, 1 shard, 1 fault                                256826   359110  141
//	the same, disconnects ridden out                           272618   381705  142
//	2 members, 2 shards, no fault                                2116     2546  124
//	3 members, 2 shards, no fault                              112021   161059  180
//	2 members, 2 shards, an operator ends a session            163410   219015  209
//	the same, an operator deletes a node                       649324   859008  258
//	the same, a connection is cut                              486219   685875  219
//
// The search to depth 40 stopped at 25276 states; from each of them a run without
// faults found a leader. Before a waiter asked by itself whether its predecessor exists,
// two participants with two faults whose work never returns had 1088696 states,
// 1787350 steps and a depth of 73. Before a state had the time of what the leader
// knew, two participants with two faults, from connected on, had 1793803, 3109734
// and 77, and 1924992, 3338959 and 80 with disconnects ridden out.
//
// Every fair run reaches a leader in the worlds of make prove, in that with every order
// and in the last two.
//
// A client that may not list the line, or not read its own node, gives its place up, and
// the other one leads. If the reply to its create was lost, it cannot delete the node,
// because only a listing shows the name. Then the client's handle ends the session; the
// search has machines and no handles, and finds that nobody leads
// (TestANodeWithoutANameIsKept).
//
// make prove does the world with a read refused once, and two participants with one fault from
// connected on; make small does all.
//
// # What it cannot see
//
// Fractions of a unit: slack, the tick and the drift of clocks are left to
// test/worlds/sim, and the timer after which a leader watches its own node is due at
// once. A heartbeat by sync, deposed leaders and lost quorums (a write that is
// acknowledged is committed here). Access rights of other clients' nodes, events that a
// server withholds from a client without rights, foreign and persistent nodes,
// the end of the counter, more than one line or one handle in a process, selectors,
// and closing. A server that lags at the connect does so from before the connect.
// A link that fails a second time before the ensemble's leader has heard of a
// session again, though a write got through in between.
package small
