package wire

// plant is a bug that is put into the product's own source, to see that the worlds find it: an edit of one file, made
// when the test binary is built. It has an effect only if it is switched on, so that one binary has them all.
type plant struct {
	name    string
	file    string // from the module's root
	old     string // occurs there exactly once
	new     string // planted(…) in it stands for planted("the plant's name")
	records bool   // only a log shows it: worlds without one are left out of the search
	login   bool   // it is searched for in worlds whose server demands a login
}

// Some bugs have no plant, because no world can show them:
//
//   - A watch whose request is pending is armed again: when a connection begins, none is pending. The loss of the one
//     before has answered them all.
//   - Watches are not armed again: every machine reads again on a new connection, and sets its watch with that.
//   - A frame of an older connection is read: its socket is closed by then, and the engine drops what belongs to an
//     older session.
//   - A request of an older session is sent in the live one: machines and Leadership.Write ask only in the session that
//     they believe in. TestFact21_UnknownCommitIsNeverRetried of zkio shows it.
//   - A write of an older connection confirms: its reply is CONNECTIONLOSS. TestOnlyWritesOfThisConnectionConfirm of
//     machines shows it.
//   - An await that was given up is granted: the door releases it immediately.
var plants = []plant{
	{
		name: "a contact is believed before it was reported", records: true, file: "zkio/session.go",
		old: "	c.sentAt, c.contact = now, w.contacts.before(now-int64(s.a.cfg.Lag()))\n",
		new: "	c.sentAt, c.contact = now, w.contacts.before(now-int64(s.a.cfg.Lag()))\n	if planted(…) {\n" +
			"		c.contact = w.contacts.before(now)\n	}\n",
	},
	{
		name: "a frame that left counts as a contact", records: true, file: "zkio/contacts.go",
		old: "func (c *contacts) pinged(at int64) { c.pings = append(c.pings, at) }\n",
		new: "func (c *contacts) pinged(at int64) {\n	c.pings = append(c.pings, at)\n	if planted(…) {\n" +
			"		c.note(at, at)\n	}\n}\n",
	},
	{
		name: "the last zxid goes back", file: "zkio/session.go",
		old: "	s.lastZxid = max(s.lastZxid, a.zxid)\n",
		new: "	s.lastZxid = max(s.lastZxid, a.zxid)\n	if planted(…) {\n		s.lastZxid = a.zxid\n	}\n",
	},
	{
		name: "a reconnect claims to have seen nothing", file: "zkio/wire.go",
		old: "		if w.probe {\n			claimed = 0\n		}\n",
		new: "		if w.probe || planted(…) {\n			claimed = 0\n		}\n",
	},
	{
		name: "one refused login ends the session", records: true, login: true, file: "zkio/close.go",
		old: "	over := code == events.AuthFailed && !s.mayLive()\n",
		new: "	over := code == events.AuthFailed && (!s.mayLive() || planted(…))\n",
	},
	{
		name: "the directory's deletion does not reach who watches its children", file: "zkio/watches.go",
		old: "		if concerns && !slices.Contains(machines, waiter.id) {\n",
		new: "		if planted(…) && waiter.child && kind == events.WatchDeleted {\n			return false\n" +
			"		}\n		if concerns && !slices.Contains(machines, waiter.id) {\n",
	},
	{
		name: "watches of closed machines stay", file: "zkio/watches.go",
		old: "	for known := w.machines[id]; known != nil; known = w.machines[id] {\n",
		new: "	if planted(…) {\n		return\n	}\n	for known := w.machines[id]; known != nil; known = " +
			"w.machines[id] {\n",
	},
	{
		name: "a reply arms the watch of a closed machine", file: "zkio/watches.go",
		old: "	case c.watch == noWatch || c.over():\n",
		new: "	case c.watch == noWatch || c.over() && !planted(…):\n",
	},
	{
		name: "lost replies come in any order", records: true, file: "zkio/connectionends.go",
		old: "	return slices.SortedFunc(maps.Values(s.pending), func(",
		new: "	if planted(…) {\n		return slices.Collect(maps.Values(s.pending))\n	}\n" +
			"	return slices.SortedFunc(maps.Values(s.pending), func(",
	},
	{
		name: "SentAt is when the reply came", records: true, file: "zkio/session.go",
		old: "	e, kept, ok := c.reply(&s.a.coding, a)\n",
		new: "	if planted(…) {\n		c.sentAt = s.a.cfg.Now()\n	}\n	e, kept, ok := " +
			"c.reply(&s.a.coding, a)\n",
	},
	{
		name: "calls are accepted while the session is closed", file: "zkio/session.go",
		old: "	case s.closing:\n		s.answer(c, c.event(events.NotSent, \"the session is being closed\"), " +
			"Kept{})\n	case s.wire == nil:\n",
		new: "	case s.closing && !planted(…):\n		s.answer(c, c.event(events.NotSent, \"the " +
			"session is being " +
			"closed\"), Kept{})\n	case s.wire == nil:\n",
	},
	{
		name: "every request is urgent", records: true, file: "zkio/calls.go",
		old: "	if header.Urgent {\n",
		new: "	if header.Urgent || planted(…) {\n",
	},
	{
		name: "the window leaks what a lost connection left unanswered", file: "zkio/session.go",
		old: "		s.lanes.answered(c)\n",
		new: "		if !planted(…) || e.Code != events.ConnectionLoss {\n" +
			"			s.lanes.answered(c)\n		}\n",
	},
	{
		name: "a request is sent again on the next connection", file: "zkio/connectionends.go",
		old: "	clear(s.pending)\n	for _, c := range written {\n",
		new: "	clear(s.pending)\n	for _, c := range written {\n		if planted(…) && !c.reads {\n" +
			"			again := *c\n			again.started, again.onReply = false, func(events.Event, Kept) {}\n" +
			"			plantedLater(s.timeout, func() { s.submit(&again) })\n		}\n",
	},
	{
		name: "belief does not end at the deadline", file: "internal/belief/belief.go",
		old: "		case clock() < v.Until:\n",
		new: "		case clock() < v.Until || planted(…):\n",
	},
	{
		name: "AloneUntil counts a whole timeout from now", file: "leadership.go",
		old: "		left = time.Duration(d.Alone - l.client.core.Clock.Now())\n",
		new: "		left = time.Duration(d.Alone - l.client.core.Clock.Now())\n" +
			"		if planted(…) {\n			left = l.client.core.Timeout()\n		}\n",
	},
	{
		name: "an ended context does not end the wait", file: "internal/calls/commands.go",
		old: "	case <-ctx.Done():\n		return Reply{}, context.Cause(ctx)\n	}\n",
		new: "	case <-ctx.Done():\n		if !planted(…) {\n" +
			"			return Reply{}, context.Cause(ctx)\n		}\n" +
			"		select {\n		case r := <-ch:\n			return r, r.none\n" +
			"		case <-client.Closed:\n		}\n	}\n",
	},
	{
		name: "a command is carried out twice", file: "client.go",
		old: "		c.sendCreating(id, effect.(events.Request))\n	case events.Multi:\n",
		new: "		c.sendCreating(id, effect.(events.Request))\n		if planted(…) {\n" +
			"			c.core.IO.Execute(id, effect)\n		}\n	case events.Multi:\n",
	},
	{
		name: "a notice to a listener overtakes another", file: "internal/async/mailbox.go",
		old: "	m.queue = append(m.queue, v)\n",
		new: "	m.queue = append(m.queue, v)\n	if planted(…) && len(m.queue) > 1 {\n		m.queue[0], " +
			"m.queue[len(m.queue)-1] = v, m.queue[0]\n	}\n",
	},
	{
		name: "the end of a term does not reach who has it", file: "term.go",
		old: "	t.over.Store(true)\n",
		new: "	t.over.Store(!planted(…))\n",
	},
	{
		name: "lost replies come before the loss of the connection", records: true, file: "zkio/connectionends.go",
		old: "	s.postEvent(events.Event{\n		Kind: events.ConnectionSuspended, Code: events.ConnectionLoss, " +
			"Text: s.largestInFlight().endText(text),\n" +
			"		Server: server, End: end, Paused: int64(s.pauses.own),\n	})\n",
		new: "	suspended := events.Event{\n		Kind: events.ConnectionSuspended, Code: events.ConnectionLoss, " +
			"Text: s.largestInFlight().endText(text),\n" +
			"		Server: server, End: end, Paused: int64(s.pauses.own),\n	}\n" +
			"	if planted(…) {\n		defer s.postEvent(suspended)\n	} else {\n" +
			"		s.postEvent(suspended)\n	}\n",
	},
	{
		name: "names of go-zookeeper are no places", file: "machines/znode.go",
		old: "	before, n, ok := cutNumber(name, label)\n	if !ok {\n",
		new: "	before, n, ok := cutNumber(name, label)\n	if planted(…) && before != \"\" && guidIn(before, " +
			"label) == \"\" {\n		ok = false\n	}\n	if !ok {\n",
	},
	{
		name: "a plain node is own by its name", file: "machines/ownersearch.go",
		old: "func (p *place) owns(ev events.Event) bool {\n",
		new: "func (p *place) owns(ev events.Event) bool {\n	if planted(…) {\n		return ev.Code " +
			"== events.OK " +
			"&& ev.Stat != nil\n	}\n",
	},
	{
		name: "a plain node of a lost reply is given up", file: "machines/ownersearch.go",
		old: "func (p *place) mayBeOurs(ev events.Event) bool { return !p.naming.unique() && p.recovered(ev) }\n",
		new: "func (p *place) mayBeOurs(ev events.Event) bool {\n	if planted(…) && !p.naming.unique() && " +
			"p.recovered(ev) {\n		p.unknown = false\n	}\n	return !p.naming.unique() && " +
			"p.recovered(ev)\n}\n",
	},
	{
		name: "a code that says nothing counts as refused", file: "events/code.go",
		old: "func (c Code) Unknown() bool { return !proofs[c] }\n",
		new: "func (c Code) Unknown() bool { return !proofs[c] && !(planted(…) && c != ConnectionLoss) }\n",
	},
	{
		name: "what is created late is left", file: "machines/leftover.go",
		old: "	out.With(engine.Unawaited).Delete(ev.Path)\n	out.Notify",
		new: "	if planted(…) {\n		return\n	}\n" +
			"	out.With(engine.Unawaited).Delete(ev.Path)\n	out.Notify",
	},
	{
		name: "belief outlasts the session", file: "machines/belief.go",
		old: "	return min(t.timeout/2, t.sessionLife(sent, contact))\n",
		new: "	if planted(…) {\n		return 2 * t.timeout\n	}\n	return min(t.timeout/2, " +
			"t.sessionLife(sent, contact))\n",
	},
	{
		name: "a term never watches its own node", records: true, file: "machines/flight.go",
		old: "func (p *position) watchOwn(ev events.Event, out *engine.Outbox) { p.readOwn(out) }\n",
		new: "func (p *position) watchOwn(ev events.Event, out *engine.Outbox) {\n" +
			"	if !planted(…) {\n		p.readOwn(out)\n	}\n}\n",
	},
	{
		name: "a term watches its own node late", records: true, file: "machines/flight.go",
		old: "		out.Timer(ownWatchTimer, min(ownWatchDelay, slackOf(p.timeout)))\n",
		new: "		if planted(…) {\n			out.Timer(ownWatchTimer, p.timeout)\n" +
			"			return\n		}\n" +
			"		out.Timer(ownWatchTimer, min(ownWatchDelay, slackOf(p.timeout)))\n",
	},
	{
		name: "items run without marks", file: "machines/jobrun_write.go",
		old: "		if r.config.MonitorExecution {\n			ops",
		new: "		if r.config.MonitorExecution && !planted(…) {\n			ops",
	},
	{
		name: "the marks of what has run stay", file: "machines/jobworker_write.go",
		old: "	for _, n := range w.marked {\n		paths = append(paths, w.item(n, ItemRunning))\n",
		new: "	for _, n := range w.marked {\n		if planted(…) {\n			continue\n		}\n" +
			"		paths = append(paths, w.item(n, ItemRunning))\n",
	},
	{
		name: "nobody says that a job's items have to be dealt", file: "machines/jobdealer_actions.go",
		old: "	return d.isStale()\n",
		new: "	return d.isStale() && !planted(…)\n",
	},
	{
		name: "shards are claimed that another member still owns", file: "machines/shards_held.go",
		old: "	blocked := make([]bool, len(w.held))\n",
		new: "	blocked := make([]bool, len(w.held))\n	if planted(…) {\n		return blocked\n	}\n",
	},
	{
		name: "a shard is given up under its work", file: "machines/shards_held.go",
		old: "		runs := h.run == believed || h.run == ended\n",
		new: "		runs := h.run == believed || h.run == ended && !planted(…)\n",
	},
	{
		name: "a member that ends gives a shard up under its work", file: "machines/shards_held.go",
		old: "		if h.token != 0 && (h.run == believed || h.run == ended) {\n",
		new: "		if h.token != 0 && (h.run == believed || h.run == ended && !planted(…)) {\n",
	},
	{
		name: "members without an id have one", file: "shards.go",
		old: "	if s.options.ID != \"\" {\n",
		new: "	if s.options.ID != \"\" || planted(…) {\n",
	},
}
