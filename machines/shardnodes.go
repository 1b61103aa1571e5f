package machines

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// MaxShards is the largest number of shards: their assignment has to fit into one node, and a plan into a moment.
const MaxShards = 4096

// ShardMembers returns the directory of the members that own shards.
func ShardMembers(path string) string { return join(path, "members") }

// ShardAssignment returns the path of the node that says which member each shard is assigned to.
func ShardAssignment(path string) string { return join(path, "assignment") }

// ShardWriters returns the line of those that may write the assignment.
func ShardWriters(path string) string { return join(path, "writers") }

// shardMemberLabel precedes the GUID in the name of a member's node.
const shardMemberLabel = "member-"

// shardMemberName returns the name of a member's node.
func shardMemberName(guid string) string { return shardMemberLabel + guid }

// IsShardMember reports whether a member's node can have a name.
func IsShardMember(name string) bool {
	return strings.HasPrefix(name, shardMemberLabel) && len(name) == len(shardMemberLabel)+guidLength
}

// ShardSet is a set of shards, in order. It is written as in "0-9,12".
type ShardSet []int

// MarshalText writes the set.
func (s ShardSet) MarshalText() ([]byte, error) {
	var text []byte
	for i := 0; i < len(s); {
		last := i
		for last+1 < len(s) && s[last+1] == s[last]+1 {
			last++
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(s[i]), 10)
		if last > i {
			text = strconv.AppendInt(append(text, '-'), int64(s[last]), 10)
		}
		i = last + 1
	}
	return text, nil
}

// UnmarshalText reads the set, which has to be in order.
func (s *ShardSet) UnmarshalText(text []byte) error {
	*s = nil
	if len(text) == 0 {
		return nil
	}
	for part := range strings.SplitSeq(string(text), ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 0 || to < from || to >= MaxShards || len(*s) > 0 && from <= (*s)[len(*s)-1] {
			return fmt.Errorf("%.20q: want shards in order, below %d, as in 0-9,12", part, MaxShards)
		}
		for shard := from; shard <= to; shard++ {
			*s = append(*s, shard)
		}
	}
	return nil
}

// Has reports whether a shard is in the set.
func (s ShardSet) Has(shard int) bool {
	_, has := slices.BinarySearch(s, shard)
	return has
}

// ShardMember is what the node of a member says.
type ShardMember struct {
	ID        string   `json:"id"`
	Weight    int      `json:"weight"`
	MaxOwned  int      `json:"maxOwned"`
	Unhealthy bool     `json:"unhealthy,omitempty"` // or it ends
	Owns      ShardSet `json:"owns"`
}

// encode returns the data of the member's node.
func (m ShardMember) encode() string { return encodeShards(m) }

// ParseShardMember reads the data of a member's node.
func ParseShardMember(data []byte) (m ShardMember, err error) {
	if err = json.Unmarshal(data, &m); err == nil && (m.Weight < 1 || m.MaxOwned < 0) {
		err = errors.New("want a weight of at least 1, and a maximum that is not negative")
	}
	m.Weight, m.MaxOwned = min(m.Weight, MaxShardWeight), min(m.MaxOwned, MaxShards)
	return m, err
}

// MaxShardWeight is the largest weight of a member.
const MaxShardWeight = 1 << 20

// ShardPlan is what the assignment's node says.
type ShardPlan struct {
	Shards int `json:"shards"`
	// Owners are the shards of each member, by the name of its node.
	Owners map[string]ShardSet `json:"owners"`
	// IDs are the members' ids, by the names of their nodes.
	IDs map[string]string `json:"ids"`
	// Leaving are the shards that members may still own, and that are assigned to another one or to nobody.
	Leaving map[string]ShardSet `json:"leaving,omitempty"`
	// Homes are the shards by the id of the member that they were balanced to.
	Homes map[string]ShardSet `json:"homes,omitempty"`
}

// encode returns the data of the assignment's node.
func (p ShardPlan) encode() string { return encodeShards(p) }

// ParseShardPlan reads the data of the assignment's node.
func ParseShardPlan(data []byte) (p ShardPlan, err error) {
	if err = json.Unmarshal(data, &p); err == nil && (p.Shards < 1 || p.Shards > MaxShards) {
		err = fmt.Errorf("want from 1 to %d shards", MaxShards)
	}
	return p, err
}

// Assigned returns the name of the node that each shard is assigned to; "": to nobody.
func (p ShardPlan) Assigned() []string { return byShard(p.Owners, p.Shards) }

// byShard returns the first key of each shard.
func byShard(sets map[string]ShardSet, shards int) []string {
	keys := make([]string, shards)
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		for _, shard := range sets[name] {
			if shard < shards && keys[shard] == "" {
				keys[shard] = name
			}
		}
	}
	return keys
}

// encodeShards returns a value as JSON. Maps are written in the order of their keys.
func encodeShards(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // the types have none that fails
	}
	return string(text)
}
