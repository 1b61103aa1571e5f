package machines

// node is the own node, or the attempt to make it.
type node struct {
	home   string // its directory
	data   []byte // what Curator shows as the participant's id
	naming naming
	read   purpose
	floor  int64 // a token below it is refused
	owner  int64 // ZooKeeper's id of the session that must own it

	count     uint64 // enrolments begun; with the seed it gives the GUID
	guid      string
	creating  uint64 // the create that is not answered yet
	unknown   bool   // its outcome: it may or may not have made a node
	own       string // the node's name; "" while there is none or it is not known
	token     int64  // its czxid, or inherited
	sequence  int64
	inherited int64 // the token of a writer that reads on, whatever its node's czxid
	pinned    int64 // the czxid that a term rests on, where another node may have the name
	owned     bool  // it was read back in this session, owned by it, on this connection
	watched   bool  // and a watch on it is armed
	sure      bool  // the name was told to be this session's on this connection, by the create or by a read
	revoked   bool  // Revoke stood in its data
}

// purpose is what the own node is read back for.
type purpose int

const (
	forStat    purpose = iota
	forData            // the stat, and what others write to it
	forNothing         // it is not read back: the patron's transaction names it, and fails without it
)
