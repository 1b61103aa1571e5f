package drawing

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// A page finds each state in the picture, and each row that leads to another state: by one arrow of its own, or by the
// one that several states share.
func TestPicturesNameTheirStatesAndRows(t *testing.T) {
	for _, d := range charts() {
		groups := groupsOf(t, drawn(t, d))
		for _, s := range d.States {
			if n := count(groups, func(g map[string]string) bool { return g["data-state"] == string(s.Name) }); n != 1 {
				t.Errorf("%s: the state %s has %d groups", d.Name, s.Name, n)
			}
		}
		for _, e := range d.Edges() {
			if e.From == e.To {
				continue
			}
			n := count(groups, func(g map[string]string) bool {
				return g["data-to"] == string(e.To) &&
					slices.Contains(strings.Fields(g["data-from"]), string(e.From)) &&
					slices.Contains(strings.Split(g["data-rows"], RowSeparator), e.Name)
			})
			if n != 1 {
				t.Errorf("%s: %s has %d groups", d.Name, e, n)
			}
		}
	}
}

// No name has what separates names.
func TestRowsAreSeparated(t *testing.T) {
	for _, d := range charts() {
		for _, e := range d.Edges() {
			if strings.Contains(e.Name, RowSeparator) || strings.ContainsAny(string(e.From)+string(e.To), " \t") {
				t.Errorf("%s: %s", d.Name, e)
			}
		}
	}
}

func count(groups []map[string]string, holds func(map[string]string) bool) (n int) {
	for _, g := range groups {
		if holds(g) {
			n++
		}
	}
	return n
}

// groupsOf returns the attributes of all groups of a picture.
func groupsOf(t *testing.T, picture string) (all []map[string]string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "g" {
			attributes := map[string]string{}
			for _, a := range e.Attr {
				attributes[a.Name.Local] = a.Value
			}
			all = append(all, attributes)
		}
	}
}
