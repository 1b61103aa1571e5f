package zkmem

import "time"

// Options shape a server. The zero value is a standalone ZooKeeper 3.8 with its defaults.
type Options struct {
	// Tick is the unit of all session times: timeouts are clamped to 2–20 ticks, a session expires at the first tick
	// boundary after its timeout. Default 2 s.
	Tick time.Duration
	// ContainerInterval is how often empty containers are deleted. Default 60 s.
	ContainerInterval time.Duration
	// HandshakeTimeout is how long a connection may take to introduce itself, and a closing one to take its last bytes.
	// Default 10 s.
	HandshakeTimeout time.Duration
	// MaxFrame is the longest request in bytes; a longer one ends the connection. Default 1048575.
	MaxFrame int
	// MaxOutbound is how many bytes may wait for a slow reader before it is cut off. Default 32 MiB.
	MaxOutbound int
	// MaxConnections is how many connections are served at once; further ones are closed. Default 20000.
	MaxConnections int

	// NoContainers and NoCreate2 are an older server's habit: it does not know createContainer (before 3.5.3) or create2
	// (before 3.5), answers Unimplemented and closes the connection.
	NoContainers, NoCreate2 bool
	// NewSessionIDOnReattach is ClickHouse Keeper's habit: who comes back gets a new session, the old one times out.
	NewSessionIDOnReattach bool
	// ExtendedTypes takes nodes with a TTL, as zookeeper.extendedTypesEnabled=true does. They are deleted when nobody has
	// written to them for that long and they have no children, at the next ContainerInterval.
	ExtendedTypes bool
	// ReadOnly is a server cut off from its ensemble: it takes only clients that ask for such, and refuses to write.
	ReadOnly bool
}

func (o Options) withDefaults() Options {
	o.Tick = orDefault(o.Tick, 2*time.Second)
	o.ContainerInterval = orDefault(o.ContainerInterval, time.Minute)
	o.HandshakeTimeout = orDefault(o.HandshakeTimeout, 10*time.Second)
	o.MaxFrame = orDefault(o.MaxFrame, 1<<20-1)
	o.MaxOutbound = orDefault(o.MaxOutbound, 32<<20)
	o.MaxConnections = orDefault(o.MaxConnections, 20000)
	return o
}

func orDefault[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}
