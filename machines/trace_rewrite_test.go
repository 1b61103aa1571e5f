package machines

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// elected is a golden trace of a latch that leads and ends.
const elected = `# why
connected
----

open latch id=a
----
latch: command.open command.open

latch command.start
----
latch: latent --command.start [attached]--> enrolling
  answer 1 ok
  #1 create /l/_c_<latch.1>-latch- ephemeral_sequential data="a"

latch reply.create seq=0
----
session: connected --connection.confirmed--> connected
  valid until 8.5s
latch: enrolling --reply.create [made]--> listing
  #2 get /l/_c_<latch.1>-latch-0000000000 watch
  #3 children /l

latch reply.stat
----
latch: listing --reply.stat [ours]--> listing

latch reply.children children=own
----
latch: listing --reply.children [mayLead]--> leading
  tell session heartbeat.wanted /l/_c_<latch.1>-latch-0000000000
  notify elected /l/_c_<latch.1>-latch-0000000000 token=16
session: connected --heartbeat.wanted--> connected
  #1 timer deadline 7.5s
  #2 timer heartbeat 3.75s

session timer.fired
----
session: connected --timer.fired--> connected
  #3 timer deadline 7.5s
`

// meaning says what changed from this golden text to what the machines do.
func meaning(t *testing.T, golden string) string {
	t.Helper()
	c := newConversation(t, newCoverage())
	m := newMeanings(c)
	datadriven.RunTestFromString(t, golden, func(t *testing.T, d *datadriven.TestData) string {
		m.play(d, func() string { return c.say(t, d) })
		return d.Expected
	})
	return m.String()
}

// The golden text is what it was before a change of the machines: the test takes a
// change back there, and wants to read of it.
func TestARewriteSaysWhichLinesMeanSomethingElse(t *testing.T) {
	for name, test := range map[string]struct {
		before []string // pairs of what the machines do, and what they did
		want   string
	}{
		"nothing": {nil, ""},
		"an answer meets another request": {
			[]string{"data=\"a\"\n", "data=\"a\"\n  #2 children /l\n", "#2 get", "#3 get", "#3 children /l",
				"#4 children /l"},
			"<string>:9: no longer \"#2 children /l\"\n" +
				"<string>:28: reply.children answered #2 children /l, now #3 children /l\n" +
				"besides, lines added: 0, guards renamed: 0, numbers moved: 2\n",
		},
		"a timer is another": {
			[]string{"  #1 timer deadline 7.5s\n", "  #1 timer patience 1s\n  #4 timer deadline 7.5s\n"},
			"<string>:27: no longer \"#1 timer patience 1s\"\n" +
				"<string>:37: timer.fired answered #1 timer patience, now #1 timer deadline\n" +
				"besides, lines added: 0, guards renamed: 0, numbers moved: 1\n",
		},
		"an event is ignored": {
			[]string{"latch: listing --reply.stat [ours]--> listing", "latch: reply.stat ignored"},
			"<string>:23: \"latch: reply.stat ignored\", now \"latch: listing --reply.stat [ours]--> listing\"\n",
		},
		"an answer is late": {
			[]string{"latch: listing --reply.stat [ours]--> listing", "latch: reply.stat late"},
			"<string>:23: \"latch: reply.stat late\", now \"latch: listing --reply.stat [ours]--> listing\"\n",
		},
		"a state differs": {
			[]string{"[mayLead]--> leading", "[mayLead]--> confirming"},
			"<string>:27: \"latch: listing --reply.children [mayLead]--> confirming\", now \"latch: listing " +
				"--reply.children [mayLead]--> leading\"\n",
		},
		"an effect is left out": {
			[]string{"  #3 children /l\n", "  #3 children /l\n  notify waiting\n"},
			"<string>:15: no longer \"notify waiting\"\n",
		},
		"a machine hears nothing": {
			[]string{"session: connected --connection.confirmed--> connected\n",
				"latch-9: connection.confirmed ignored\nsession: connected --connection.confirmed--> connected\n"},
			"<string>:15: \"latch-9: connection.confirmed ignored\" is gone\n",
		},
		"guards are renamed": {
			[]string{"[mayLead]", "[isFirst]", "[ours]", "[isOwn]"},
			"besides, lines added: 0, guards renamed: 2, numbers moved: 0\n",
		},
		"lines are added": {
			[]string{"  answer 1 ok\n", "", "  valid until 8.5s\n", ""},
			"besides, lines added: 2, guards renamed: 0, numbers moved: 0\n",
		},
		"a trace is new": {
			[]string{elected[strings.Index(elected, "latch: latent"):], ""},
			"besides, lines added: 3, guards renamed: 0, numbers moved: 0\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := elected
			for i := 0; i < len(test.before); i += 2 {
				if !strings.Contains(before, test.before[i]) {
					t.Fatalf("the trace has no %q", test.before[i])
				}
				before = strings.Replace(before, test.before[i], test.before[i+1], 1)
			}
			if got := meaning(t, before); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
