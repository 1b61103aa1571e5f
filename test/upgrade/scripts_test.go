package upgrade

import "github.com/incumbent-go/incumbent/zkio/zkmem"

// scripts are those whose requests are recorded: each recipe, without a fault and with the faults that can be had at a moment
// that no clock decides.
var scripts = []script{
	{name: "latch", steps: `
		a create x /data/register 0
		a latch l /jobs/line ida
		a hears leading l
		b latch l /jobs/line idb
		until watches 3
		a line l
		b line l
		a write l /data/register a1
		a resign l
		b hears leading l
		until watches 3
		b write l /data/register b1
		b leave l
		a hears leading l
		a leave l
	`},
	{name: "election", steps: `
		a election e /jobs/plain n_ ida
		a hears leading e
		b election e /jobs/plain n_ idb
		until watches 3
		a resign e
		b hears leading e
		until watches 3
		b leave e
		a hears leading e
		a leave e
	`},
	{name: "selector", steps: `
		a selector s /jobs/turns ida
		a hears leading s
		b selector s /jobs/turns idb
		until watches 3
		a leave s
		b hears leading s
		b leave s
	`},
	{name: "job", steps: `
		a create x /data/register 0
		a job j /nightly ida
		a hears leading j
		b job j /nightly idb
		until watches 2
		a write j /data/register a1
		a leave j
		b hears leading j
		b leave j
	`},
	{name: "mutex", steps: `
		a lock m mutex /locks/report ida
		b try m mutex /locks/report idb
		b begin lock m mutex /locks/report idb
		until watches 3
		a unlock m
		b answers m
		b unlock m
	`},
	{name: "kazoo-mutex", steps: `
		a lock m kazoo-mutex /locks/report ida
		b try m kazoo-mutex /locks/report idb
		b begin lock m kazoo-mutex /locks/report idb
		until watches 3
		a unlock m
		b answers m
		b unlock m
	`},
	{name: "read-write", steps: `
		a lock r read /locks/book ida
		b lock r read /locks/book idb
		b try w write /locks/book idb
		a begin lock w write /locks/book ida
		until children /locks/book 3
		until watches 4
		b unlock r
		a asked 2 getData /locks/book/_c_GUID-__READ__0000000000 watch
		a unlock r
		a answers w
		b try r read /locks/book idb
		a unlock w
		b downgrade d /locks/book idb
		a lock r read /locks/book ida
		a unlock r
		b unlock d
	`},
	{name: "semaphore", steps: `
		a lock s semaphore/3/2 /locks/pool ida
		b try s semaphore/3/2 /locks/pool idb
		b lock t semaphore/3/1 /locks/pool idb
		b begin lock s semaphore/3/2 /locks/pool idb
		until watches 4
		a unlock s
		b answers s
		b unlock s
		b unlock t
	`},
	{name: "queue", steps: `
		a put q plain /queues/plain one
		a put q plain /queues/plain two
		a together q plain /queues/plain three four
		b consume c plain /queues/plain least
		b hears took c one
		b hears took c two
		b hears took c three
		b hears took c four
		until children /queues/plain 0
		until watched /queues/plain 1
		b leave c
		a consume c plain /queues/plain most
		until watched /queues/plain 2
		b put q plain /queues/plain five
		a hears took c five
		until children /queues/plain 0
		until watched /queues/plain 1
		a leave c
	`},
	{name: "queue-failures", steps: `
		a put q plain /queues/plain one
		b consume c plain /queues/plain fail
		b hears took c one 1
		b hears took c one 2
		b hears took c one 3
		until children /queues/plain 0
		until watched /queues/plain 1
		until children /queues/plain-dead 1
		b leave c
		a consume c plain /queues/plain-dead least
		a hears took c one
		until children /queues/plain-dead 0
		until watched /queues/plain-dead 1
		a leave c
	`},
	{name: "queue-orders", steps: `
		a put q priority /queues/priority later 7
		a put q priority /queues/priority sooner -3
		b consume c priority /queues/priority least
		b hears took c sooner
		b hears took c later
		until children /queues/priority 0
		until watched /queues/priority 1
		b leave c
		a put q id /queues/id item name
		b remove q id /queues/id name
		a put q id /queues/id item name
		b consume d id /queues/id most
		b hears took d item
		until children /queues/id 0
		until watched /queues/id 1
		b leave d
		a put q delay /queues/delay now 0s
		b consume e delay /queues/delay least
		b hears took e now
		until children /queues/delay 0
		until watched /queues/delay 1
		b leave e
	`},
	{name: "double-barrier", steps: `
		a begin enter b /meet/double 2
		until children /meet/double 1
		until watches 2
		b enter b /meet/double 2
		a answers b
		a leave b
		b leave b
		a enter c /meet/alone 1
		a exit c
	`},
	{name: "barrier", steps: `
		a set-barrier x /meet/barrier
		b begin wait-barrier w /meet/barrier
		until watches 1
		a remove-barrier x /meet/barrier
		b answers w
		b begin wait-gate g /meet/gate
		until watches 1
		a open-gate x /meet/gate
		b answers g
		a shut-gate x /meet/gate
	`},
	{name: "persistent", steps: `
		a persist p /nodes/there one
		a asked 1 exists /nodes/there watch
		a data p two
		a asked 2 exists /nodes/there watch
		a get x /nodes/there
		b get x /nodes/there
		a leave p
		b member m /nodes/group idb here
		a member m /nodes/group ida there
		a members x /nodes/group
		b members x /nodes/group
		a leave m
		b leave m
	`},
	{name: "number", steps: `
		a add x /numbers/long 3
		b add x /numbers/long 4
		b swap x /numbers/long 7 9
		a put-long x /numbers/long 1
		a long x /numbers/long
		a count x /numbers/count
		a put-count x /numbers/count 5
		b try-count x /numbers/count 6
		a count x /numbers/count
	`},
	{name: "nodes", steps: `
		a create x /some/parents/node one
		b create x /some/container/node one container
		b create x /some/protected/n- one protected
		a set x /some/parents/node two
		b get x /some/parents/node
		a names x /some/parents
		b delete x /some/parents/node
	`},
	{name: "latch-faults", steps: `
		lose create
		a latch l /jobs/line ida
		a hears leading l
		b latch l /jobs/line idb
		until watches 3
		b names x /jobs/line
		restart
		a hears leading l
		b asked 2 getData /jobs/line/_c_GUID-latch-0000000000 watch
		b names x /jobs/line
		expire b
		until children /jobs/line 1
		until children /jobs/line 2
		until watches 3
		expire a
		b hears leading l
		until watches 3
		lose delete
		b resign l
		a hears leading l
		until watches 3
		b leave l
		a leave l
	`},
	{name: "job-faults", steps: `
		lose create
		a job j /nightly ida
		a hears leading j
		until children /nightly/leader/election/latch 0
		b job j /nightly idb
		until watches 2
		a names x /nightly/leader/election
		a leave j
		b hears leading j
		until children /nightly/leader/election/latch 0
		b leave j
	`},
	{name: "mutex-faults", steps: `
		lose create
		a lock m mutex /locks/report ida
		lose create
		b begin lock m mutex /locks/report idb
		until watches 3
		b asked 1 multi (check
		lose delete
		a unlock m
		b answers m
		b unlock m
	`},
	{name: "semaphore-faults", steps: `
		lose create
		a lock s semaphore/2/2 /locks/pool ida
		lose create
		b begin lock s semaphore/2/1 /locks/pool idb
		until watches 4
		b asked 1 multi (check
		lose multi
		a unlock s
		b answers s
		b unlock s
	`},
	{name: "read-write-faults", steps: `
		lose create
		a lock r read /locks/book ida
		lose create
		b begin lock w write /locks/book idb
		until watches 3
		b asked 1 multi (check
		lose delete
		a unlock r
		b answers w
		b unlock w
	`},
	{name: "queue-faults", steps: `
		lose multi
		a put q plain /queues/plain one
		lose multi
		b consume c plain /queues/plain least
		b hears took c one
		until children /queues/plain 0
		until watched /queues/plain 1
		b leave c
	`},
	{name: "double-barrier-faults", steps: `
		lose create
		a enter b /meet/double 1
		a exit b
	`},
	{name: "persistent-faults", steps: `
		lose create
		a persist p /nodes/there one
		lose setData
		a data p two
		a asked 3 exists /nodes/there watch
		a get x /nodes/there
		expire a
		until children /nodes 0
		until children /nodes 1
		a asked 4 exists /nodes/there watch
		a get x /nodes/there
		a leave p
	`},
	{name: "number-faults", steps: `
		a add x /numbers/long 3
		lose setData
		b add x /numbers/long 4
		lose setData
		a put-long x /numbers/long 1
		lose setData
		b put-count x /numbers/count 5
		a count x /numbers/count
	`},
	{name: "latch-evicted", steps: `
		a latch l /jobs/line ida
		a hears leading l
		b latch l /jobs/line idb
		until watches 3
		evict /jobs/line
		b hears leading l
		until watches 3
		b leave l
		a hears leading l
		a leave l
	`},
	{name: "directories-reaped", steps: `
		a latch l /jobs/line ida
		a hears leading l
		a leave l
		reap
		b latch l /jobs/line idb
		b hears leading l
		b leave l
		a lock m mutex /locks/report ida
		a unlock m
		reap
		a lock m mutex /locks/report ida
		a unlock m
	`},
	{name: "no-containers", options: zkmem.Options{NoContainers: true}, steps: `
		a latch l /jobs/line ida
		a hears leading l
		a leave l
		a lock m mutex /locks/report ida
		a unlock m
		a persist p /nodes/there one
		a asked 1 exists /nodes/there watch
		a get x /nodes/there
		a leave p
		a set-barrier x /meet/barrier
		a remove-barrier x /meet/barrier
		a enter b /meet/double 1
		a exit b
		b lock s semaphore/1/1 /locks/pool idb
		b unlock s
	`},
}
