package machines

// naming is how the nodes of a line are told apart.
type naming interface {
	// fresh is what the names of an enrolment carry besides the label.
	fresh(seed string, count uint64) string
	// sure is a name that is one node's alone: of this session, on any connection.
	sure() bool
}

// byGUID are names with a GUID of each enrolment's own, as Curator's.
type byGUID struct{}

func (byGUID) fresh(seed string, count uint64) string { return guid(seed, count) }
func (byGUID) sure() bool                             { return true }

// byOwner are names without: what the GUID is for elsewhere, the owner is for.
type byOwner struct{}

func (byOwner) fresh(string, uint64) string { return "" }
func (byOwner) sure() bool                  { return false }

// inquiry is the search for nodes whose names carry no GUID, by their owner.
type inquiry struct {
	asked   int     // reads that are not answered
	claimed []Place // those that this session owns
}
