package doctor

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/jute"
	"github.com/incumbent-go/incumbent/machines"
)

// Line is what is known of one line's directory, and of those above it.
type Line struct {
	Path         string   `json:"path"`
	Missing      bool     `json:"missing"`
	Why          string   `json:"why,omitempty"` // it could not be read
	Children     int      `json:"children"`
	ListingBytes int      `json:"listingBytes"` // of an answer with all names
	Participants int      `json:"participants"`
	Foreign      int      `json:"foreign"` // children that are in no line
	ACL          []string `json:"acl,omitempty"`
	Stranger     string   `json:"stranger"`            // what everybody may do in it: some of cdrwa
	MayCreate    *bool    `json:"mayCreate,omitempty"` // this client, there or in the nearest one above
	MayDelete    *bool    `json:"mayDelete,omitempty"`
	Quotas       []Quota  `json:"quotas,omitempty"`

	server    *Server // that was asked
	chroot    string
	cut       bool // the connection, or the examination, ended before all was read
	line      incumbent.Line
	heads     []incumbent.Participant // the first of each line
	owner     int64                   // the session that owns the path itself; 0 for a directory
	equal     []string                // names with the number of another one
	last      int64                   // the highest number
	wrapped   bool                    // a number is below 0
	rights    []entry                 // the access list of the directory; nil: not known
	untried   string                  // why it is not known what this client may
	unchecked bool                    // the server does not check access lists
	above     []parent                // the directories above that exist, the nearest one first
	unread    int                     // participants that were not read, because there are too many
}

// parent is a directory above a line's.
type parent struct {
	path     string
	stranger string // what everybody may do there, "" also if that is not known
	root     bool
}

// Quota is a quota at or above a directory. -1 is no limit.
type Quota struct {
	Path      string `json:"path"`
	Count     int64  `json:"count"`
	Bytes     int64  `json:"bytes"`
	HardCount int64  `json:"hardCount"`
	HardBytes int64  `json:"hardBytes"`
	UsedCount int64  `json:"usedCount"`
	UsedBytes int64  `json:"usedBytes"`
}

// maxRead is how many participants of a line are read.
const maxRead = 1000

// askLines reads the lines, at the ensemble's leader if it is known.
func (f *Facts) askLines(ctx context.Context) {
	v := f.home()
	for _, name := range f.settings.Lines {
		l := &Line{Path: name, server: v, chroot: f.settings.Chroot}
		f.lines = append(f.lines, l)
		switch {
		case ctx.Err() != nil:
			l.Why, l.cut = text(context.Cause(ctx)), true
			continue
		case v == nil:
			l.Why, l.cut = "no server answers", true
			continue
		}
		dir := path.Join("/", f.settings.Chroot, name)
		err := l.ask(v.kept, dir)
		if err == nil {
			err = f.tryStranger(ctx, l, dir)
		}
		if err != nil {
			l.Why, l.cut = text(err), true
		}
	}
}

// home returns the ensemble's leader if it is known, or else the first server that serves; nil if none does.
func (f *Facts) home() *Server {
	var first *Server
	for _, v := range f.answering() {
		if v.Role == roleLeader {
			return v
		}
		if first == nil && !v.stranger {
			first = v
		}
	}
	return first
}

// ask reads a line. An error is one of the connection.
func (l *Line) ask(c *session, dir string) error {
	if _, _, err := c.request(opSync, about(dir)); err != nil {
		return err
	}
	b, code, err := c.request(opGetChildren2, about(dir).Bool(false))
	switch {
	case err != nil:
		return err
	case code == codeNoNode:
		l.Missing = true
	case code != codeOK:
		l.Why = refusal(code)
	default:
		if err := l.readChildren(c, dir, b); err != nil {
			return err
		}
	}
	if err := l.askRights(c, dir); err != nil {
		return err
	}
	return l.askQuotas(c, dir)
}

func (l *Line) readChildren(c *session, dir string, b *jute.Decoder) error {
	var names []string
	for range b.Count(4) {
		names = append(names, b.Text())
	}
	if b.Bad {
		return errMalformed
	}
	l.owner = readStat(b).owner
	l.Children, l.ListingBytes = len(names), listingBytes(names)
	places, foreign := machines.Places(names)
	l.Participants, l.Foreign = len(places), foreign
	l.unread = max(0, len(places)-maxRead)
	if err := l.readParticipants(c, dir, places[:min(len(places), maxRead)]); err != nil {
		return err
	}
	for i, p := range places {
		l.last, l.wrapped = max(l.last, p.Sequence), l.wrapped || p.Sequence < 0
		if i > 0 && places[i-1].Sequence == p.Sequence && places[i-1].Kind == p.Kind {
			l.equal = append(l.equal, events.Foreign(p.Name, events.MaxText))
		}
	}
	return nil
}

// listingBytes is how many bytes the names take in an answer: the length before each, and what is around all.
func listingBytes(names []string) int {
	const header, stat = 16 + 4, 68
	total := header + stat
	for _, name := range names {
		total += 4 + len(name)
	}
	return total
}

// readParticipants reads the nodes of places. Those that are gone are left out.
func (l *Line) readParticipants(c *session, dir string, places []machines.Place) error {
	var asked []jute.Frame
	for _, p := range places {
		asked = append(asked, about(path.Join(dir, p.Name)).Bool(false))
	}
	return c.requests(opGetData, asked, func(n int, b *jute.Decoder, code int32) error {
		one, err := participant(l.Path, places[n], b, code)
		if err != nil || one == nil {
			return err
		}
		if n := len(l.line.Participants); n == 0 || l.line.Participants[n-1].Recipe != one.Recipe {
			l.heads = append(l.heads, *one)
		}
		l.line.Participants = append(l.line.Participants, *one)
		return nil
	})
}

// participant reads the answer about the node of a place; nil if it is gone.
func participant(line string, place machines.Place, b *jute.Decoder, code int32) (*incumbent.Participant, error) {
	p := &incumbent.Participant{Recipe: place.Kind.Recipe, Prefix: place.Label, Path: path.Join(line, place.Name)}
	switch code {
	case codeOK:
	case codeNoNode:
		return nil, nil
	default:
		p.Err = &incumbent.Error{Code: events.NoAuth, Text: refusal(code)}
		return p, nil
	}
	p.ID = b.Text()
	s := readStat(b)
	if b.Bad {
		return nil, errMalformed
	}
	p.Token, p.Owner, p.Created = s.czxid, s.owner, time.UnixMilli(s.ctime)
	return p, nil
}

var limit = regexp.MustCompile(`\b(count|bytes|byteHardLimit|countHardLimit)=(-?\d+)`)

// limits reads the numbers of a quota; -1 for those that are not there.
func limits(text string) map[string]int64 {
	all := map[string]int64{"count": -1, "bytes": -1, "byteHardLimit": -1, "countHardLimit": -1}
	for _, m := range limit.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.ParseInt(m[2], 10, 64); err == nil {
			all[m[1]] = n
		}
	}
	return all
}

// askQuotas reads the quotas of the directory and of those above it.
func (l *Line) askQuotas(c *session, dir string) error {
	for ; dir != "/"; dir = path.Dir(dir) {
		at := "/zookeeper/quota" + dir
		set, err := readText(c, at+"/zookeeper_limits")
		if err != nil {
			return err
		}
		if set == "" {
			continue
		}
		used, err := readText(c, at+"/zookeeper_stats")
		if err != nil {
			return err
		}
		most, now := limits(set), limits(used)
		l.Quotas = append(l.Quotas, Quota{l.shown(dir), most["count"], most["bytes"], most["countHardLimit"],
			most["byteHardLimit"],
			now["count"], now["bytes"]})
	}
	return nil
}

// shown returns a path as clients write it, below their chroot. One that is not below it is whole.
func (l *Line) shown(node string) string {
	below, inside := strings.CutPrefix(node, l.chroot)
	switch {
	case !inside || below != "" && !strings.HasPrefix(below, "/"):
		return node + " (above the chroot)"
	case below == "":
		return "/"
	}
	return below
}

// readText reads a node's data, "" if it cannot be read.
func readText(c *session, node string) (string, error) {
	b, code, err := c.request(opGetData, about(node).Bool(false))
	if err != nil || code != codeOK {
		return "", err
	}
	return b.Text(), nil
}

// sharing returns the ids that more than one session of the line has, each with how many sessions.
func (l *Line) sharing() (ids []string) {
	owners := map[string][]int64{}
	for _, p := range l.line.Participants {
		if p.Err == nil && p.ID != "" && p.Owner != 0 && !slices.Contains(owners[p.ID], p.Owner) {
			if owners[p.ID] = append(owners[p.ID], p.Owner); len(owners[p.ID]) == 2 {
				ids = append(ids, events.Quote(p.ID, events.MaxName))
			}
		}
	}
	return ids
}
