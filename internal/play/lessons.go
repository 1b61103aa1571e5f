package play

// Lesson is a script to begin with, and two sentences on what it shows.
type Lesson struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Link        string   `json:"link"`
	Says        []string `json:"says"`
	Counterpart string   `json:"counterpart"` // the lesson with the same deeds, with or without a bug; "" for none
	Focus       string   `json:"focus"`       // the participant to look at
}

// Lessons returns the lessons, in their order.
func Lessons() []Lesson {
	return []Lesson{
		{"cut-off-follower", "The cut-off follower", "1;latch;usual;3;20~10:isolate:b:15@30", []string{
			"Alice leads, and her server is cut off from the others: it goes on answering her pings, while the " +
				"ensemble ends her session.",
			"Only what the ensemble confirms counts, so her right ends seconds before her node is gone " +
				"and bob leads, although she is still connected.",
		}, "cut-off-follower-bug", "alice"},
		{"deposed-leader", "The deposed leader", "1;latch;usual;3;14~10:depose:14@40", []string{
			"Alice's server is the ensemble's leader: it is cut off, and for 14 s it goes on as if it led, although " +
				"the others have elected another.",
			"A server without a quorum confirms nothing, so her right ends within half a session timeout, and she " +
				"leads again only when a server of the others has answered.",
		}, "", "alice"},
		{"pause", "A pause, and why only the token helps", "1;latch;usual;3;20~10:freeze:alice:9@25", []string{
			"Alice's process stands still for 9 s while she leads: her session ends, bob leads with a greater token, " +
				"and her work hears of nothing before she wakes.",
			"No library can stop the line of her program that runs next: it takes a store that refuses a token below " +
				"the greatest it has seen, or a guarded write (Leadership.Write).",
		}, "", "alice"},
		{"lost-create", "The lost create", "1;latch;usual;3;20~10:delete:alice~10.004:lose-reply:alice@25", []string{
			"Alice's node is deleted, she creates another, and the reply is lost: she cannot know whether the " +
				"node is there.",
			"She looks for the GUID in its name when she is connected again, finds the node, and has one " +
				"place in the line.",
		}, "lost-create-bug", "alice"},
		{"herd", "The herd", "1;latch;usual;9;20~10:kill:dave@25", []string{
			"Nine are in one line, each watches the node ahead of its own, and the process of the first, " +
				"dave, is killed.",
			"His node ends with his session, and the ensemble notifies one participant, heidi, who leads: the seven " +
				"others hear nothing.",
		}, "", "heidi"},
		{"session-over", "The session is over", "1;latch;usual;3;20~10:expire:alice@25", []string{
			"The ensemble ends alice's session: her node is gone with it, and bob, who watches it, leads " +
				"within milliseconds.",
			"No request or reply of the old session has an effect in the new one: alice queues again at the tail, " +
				"with a new node and a greater token.",
		}, "", "alice"},
		{"forgotten-release", "A forgotten Release",
			"1;latch;usual;3;20;forgets=alice~10:expire:alice~20:close:bob~25:close:carol@40", []string{
				"Alice's session ends while she leads, and her program does not release the leadership " +
					"that it has lost.",
				"No new term begins before the work of the last one has returned: when bob and carol have " +
					"closed, nobody leads, although alice is connected.",
			}, "", "alice"},
		{"deaf-leader", "The deaf leader", "1;latch;usual;3;20~10:hide:alice~11:delete:alice@25", []string{
			"An operator takes away the right to read alice's node and deletes it: neither her watch nor bob's fires.",
			"Her next heartbeat finds the node gone, within half a session timeout, and bob leads after his next " +
				"check of it, which he makes once in a session timeout.",
		}, "", "alice"},
		{"shards", "Shards", "1;shards;usual;3+1;20;work=1.5~10:kill:bob~25:start:dave~40:freeze:alice:9@60", []string{
			"Three members own six shards: bob is killed, and the others own his after his session; dave " +
				"begins, and alice gives him one after her work on it has returned.",
			"Alice stands still for 9 s: her right ends, dave owns her two shards " +
				"before she wakes, and two never own one shard. Her work returns 1.5 s after she wakes: " +
				"until then two work.",
		}, "", "alice"},
		{"cut-off-follower-bug", "The cut-off follower, if reads confirmed",
			"1;latch;usual;3;20;bug=reads-confirm~10:isolate:b:15@30", []string{
				"The same cut, and a planted bug: heartbeats are reads, which the cut-off server answers by itself.",
				"Alice's session has ended, bob leads, and she goes on believing: two leaders at once.",
			}, "cut-off-follower", "alice"},
		{"lost-create-bug", "The lost create, if it counted as refused",
			"1;latch;usual;3;20;bug=create-refused~10:delete:alice~10.004:lose-reply:alice@25", []string{
				"The same lost reply, and a planted bug: a create whose reply was lost counts as refused.",
				"Alice creates a second node, and nobody knows of the first, which stays in the line: when its turn " +
					"comes, nobody leads.",
			}, "lost-create", "alice"},
	}
}
