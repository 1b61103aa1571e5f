package machines

// naming says how the nodes of a line are told apart.
type naming uint8

const (
	byGUID  naming = iota // each enrolment has a new GUID in its names, as Curator's
	byOwner               // names have no GUID: the node's owner does what the GUID does elsewhere
)

// fresh returns what the names of an enrolment have besides the label.
func (n naming) fresh(seed string, count uint64) string {
	if n == byOwner {
		return ""
	}
	return guid(seed, count)
}

// unique reports whether no other node can ever have the name.
func (n naming) unique() bool { return n == byGUID }
