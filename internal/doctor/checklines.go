package doctor

import (
	"fmt"
	"path"
	"strings"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// each runs a check over the lines that were read.
func (f *Facts) each(find func(*Line) []Finding) (all []Finding) {
	for _, l := range f.lines {
		if l.Why == "" {
			all = append(all, find(l)...)
		}
	}
	return all
}

// checkLineReadable finds lines that this client may not list.
func checkLineReadable(f *Facts) (all []Finding) {
	for _, l := range f.lines {
		if l.Why != "" && !l.cut && len(f.serving()) > 0 {
			all = append(all, Finding{ID: "line-unreadable", Severity: Unfit, Where: l.Path,
				Is: "Its directory cannot be listed: " + l.Why + ".",
				Do: "Give the client the right to read it, or the right credentials: a participant that may " +
					"not list its line leaves it."})
		}
	}
	return all
}

// checkOwned finds paths that are no directory of a line: a session owns the node.
func checkOwned(f *Facts) []Finding {
	return f.each(func(l *Line) []Finding {
		if !(events.Stat{EphemeralOwner: l.owner}).Ephemeral() {
			return nil
		}
		return []Finding{{ID: "one-node", Severity: Warning, Where: l.Path,
			Is: fmt.Sprintf("It is an ephemeral node of the session 0x%x, as of an election on one node: it has no "+
				"line.", uint64(l.owner)),
			Do: "Ask incumbent status " + l.Path + " who has it, and examine its directory: --line " +
				path.Dir(l.Path) + "."}}
	})
}

// checkNodes finds nodes behind which nobody leads, and others that no session owns.
func checkNodes(f *Facts) []Finding {
	return f.each(func(l *Line) (all []Finding) {
		for i, p := range l.line.Participants {
			head := i == 0 || l.line.Participants[i-1].Recipe != p.Recipe
			switch {
			case p.Err != nil:
				all = append(all, Finding{ID: "node-unreadable", Severity: Warning, Where: nameOf(p),
					Is: "The node cannot be read: " + text(p.Err) + ".",
					Do: "Give the participants the right to read each other's nodes: without it they ask more often."})
			case p.Persistent() && head && p.Recipe != machines.LeaseLine:
				all = append(all, Finding{ID: "blocked", Severity: Unfit, Where: nameOf(p),
					Is: "The first node in line is persistent, so nobody behind it can lead.",
					Do: "Find out who created it, and delete it: incumbent resign " + l.Path + " --node " +
						base(p) + "."})
			case p.Persistent():
				all = append(all, Finding{ID: "persistent-node", Severity: Warning, Where: nameOf(p),
					Is: "The node is persistent: nobody behind it can lead when it is first.",
					Do: "Find out who created it, and delete it."})
			}
		}
		return all
	})
}

func nameOf(p incumbent.Participant) string { return events.Foreign(p.Path, events.MaxText) }

func base(p incumbent.Participant) string { return events.Foreign(path.Base(p.Path), events.MaxText) }

// checkForeign finds children that are in no line.
func checkForeign(f *Facts) []Finding {
	return f.each(func(l *Line) []Finding {
		if l.Foreign == 0 {
			return nil
		}
		return []Finding{{ID: "foreign-children", Severity: Note, Where: l.Path,
			Is: fmt.Sprintf("Its children that belong to no recipe of this library: %d.", l.Foreign),
			Do: "Nothing, if they are meant: they are ignored. Participants of another layout are in another line."}}
	})
}

// checkNumbers finds numbers that ZooKeeper cannot have given, and a counter that ends soon.
func checkNumbers(f *Facts) []Finding {
	const soon = 2_000_000_000
	return f.each(func(l *Line) (all []Finding) {
		if ahead, behind, forged := l.line.Forged(); forged {
			all = append(all, Finding{ID: "forged-number", Severity: Unfit, Where: l.Path,
				Is: fmt.Sprintf("%s is ahead of %s and was created after it: ZooKeeper gives no such number.",
					base(ahead), base(behind)),
				Do: "Find out who created which, and delete the wrong one."})
		}
		if len(l.equal) > 0 {
			all = append(all, Finding{ID: "equal-numbers", Severity: Unfit, Where: l.Path,
				Is: "Nodes have the number of another one: " + strings.Join(l.equal[:min(3, len(l.equal))], ", ") + ".",
				Do: "Find out who wrote a number by hand, and delete the wrong one; at 2147483647 the counter " +
					"has ended."})
		}
		if l.wrapped {
			all = append(all, Finding{ID: "counter-ends", Severity: Warning, Where: l.Path,
				Is: "A number in line is below 0: ZooKeeper's counter has passed its end, 2147483647.",
				Do: "Stop all participants, and delete the directory: the next one begins at 0."})
		} else if l.last > soon {
			all = append(all, Finding{ID: "counter-ends", Severity: Warning, Where: l.Path,
				Is: fmt.Sprintf("Its highest number is %d, and ZooKeeper's counter ends at 2147483647.", l.last),
				Do: "Stop all participants, and delete the directory: the next one begins at 0."})
		}
		return all
	})
}

// checkSharing finds ids that several sessions of a line have.
func checkSharing(f *Facts) []Finding {
	return f.each(func(l *Line) []Finding {
		ids := l.sharing()
		if len(ids) == 0 {
			return nil
		}
		return []Finding{{ID: "shared-id", Severity: Warning, Where: l.Path,
			Is: "More than one session has the id " + strings.Join(ids[:min(3, len(ids))], ", ") + ".",
			Do: "Give each process an id of its own: an id does not say which one leads otherwise."}}
	})
}

// checkSize finds directories that are large for one answer.
func checkSize(f *Facts) []Finding {
	most := f.settings.MaxAnswer
	return f.each(func(l *Line) []Finding {
		finding := Finding{ID: "large-line", Severity: Warning, Where: l.Path,
			Is: fmt.Sprintf("A listing has %d bytes for %d children, of the %d that a client takes.",
				l.ListingBytes, l.Children, most),
			Do: fmt.Sprintf("Set Config.MaxAnswer to %d or more, or find out who creates so many nodes.",
				roomFor(l.ListingBytes))}
		switch {
		case l.ListingBytes > most:
			finding.Severity = Unfit
		case l.ListingBytes <= most/2:
			return nil
		}
		return []Finding{finding}
	})
}

// checkStranger finds what everybody may do in a line's directory, and above it.
func checkStranger(f *Facts) []Finding {
	return f.each(func(l *Line) (all []Finding) {
		var can []string
		for _, right := range []struct{ letter, means string }{
			{"c", "take a place and lead"}, {"d", "delete a leader's node"}, {"a", "change the access list"}} {
			if strings.Contains(l.Stranger, right.letter) {
				can = append(can, right.means)
			}
		}
		if len(can) > 0 {
			all = append(all, Finding{ID: "open-line", Severity: Warning, Where: l.Path,
				Is: "Everybody who reaches the servers may " + strings.Join(can, ", ") + ".",
				Do: "Set credentials for all participants, and restrict the directory's access list to them."})
		}
		if l.Missing && strings.Contains(l.above[0].stranger, "c") {
			all = append(all, Finding{ID: "open-parent", Severity: Warning, Where: l.above[0].path,
				Is: fmt.Sprintf("%s does not exist, and everybody may create it there, with any access list.", l.Path),
				Do: "Create the directory, with an access list for the participants."})
		}
		for i, p := range l.above {
			if p.root || l.Missing && i == 0 || !strings.ContainsAny(p.stranger, "cda") {
				continue
			}
			all = append(all, Finding{ID: "open-parent", Severity: Note, Where: p.path,
				Is: fmt.Sprintf("Everybody has the rights %s above %s.", p.stranger, l.Path),
				Do: "Restrict the access list: who may create and delete there can replace an empty directory."})
		}
		return all
	})
}

// checkQuotas finds quotas that are reached, or nearly.
func checkQuotas(f *Facts) []Finding {
	return f.each(func(l *Line) (all []Finding) {
		for _, q := range l.Quotas {
			for _, one := range []struct {
				what             string
				used, soft, hard int64
			}{{"nodes", q.UsedCount, q.Count, q.HardCount}, {"bytes", q.UsedBytes, q.Bytes, q.HardBytes}} {
				finding := Finding{ID: "quota", Severity: Warning, Where: q.Path,
					Do: "Raise the quota, or find out what takes the room: a participant that may create no node " +
						"cannot lead."}
				switch {
				case one.hard >= 0 && one.used >= one.hard:
					finding.Severity = Unfit
					finding.Is = fmt.Sprintf("Its hard quota of %s is reached: %d of %d.", one.what, one.used, one.hard)
				case one.hard >= 0 && one.used >= one.hard*8/10:
					finding.Is = fmt.Sprintf("Its hard quota of %s is nearly reached: %d of %d.", one.what,
						one.used, one.hard)
				case one.soft >= 0 && one.used >= one.soft:
					finding.Is = fmt.Sprintf("Its soft quota of %s is reached: %d of %d.", one.what, one.used, one.soft)
				default:
					continue
				}
				all = append(all, finding)
			}
		}
		return all
	})
}
