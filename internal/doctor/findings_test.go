package doctor

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/zkio"
)

// brief are findings as their severity, name and place.
func brief(all []Finding) (texts []string) {
	for _, f := range all {
		texts = append(texts, fmt.Sprint(f.Severity, " ", f.ID, " ", f.Where))
	}
	return texts
}

// A quota is found when it is reached, and a hard one from four fifths on.
func TestWhichQuotasAreFound(t *testing.T) {
	for _, c := range []struct {
		used, soft, hard int64
		severity         Severity
		says             string // "": nothing is found
	}{
		{79, -1, 100, Warning, ""}, {80, -1, 100, Warning, "hard quota of nodes is nearly reached: 80 of 100"},
		{99, -1, 100, Warning, "hard quota of nodes is nearly reached: 99 of 100"},
		{100, -1, 100, Unfit, "hard quota of nodes is reached: 100 of 100"}, {101, -1, 100, Unfit,
			"reached: 101 of 100"},
		{99, 100, -1, Warning, ""}, {100, 100, -1, Warning, "soft quota of nodes is reached: 100 of 100"},
		{0, -1, -1, Warning, ""}, {0, -1, 0, Unfit, "hard quota of nodes is reached: 0 of 0"},
		{50, 40, 100, Warning, "soft quota of nodes is reached: 50 of 40"},
		{90, 40, 100, Warning, "hard quota of nodes is nearly reached"},
	} {
		q := Quota{Path: "/q", Count: c.soft, HardCount: c.hard, UsedCount: c.used, Bytes: -1, HardBytes: -1}
		all := checkQuotas(&Facts{lines: []*Line{{Quotas: []Quota{q}}}})
		switch {
		case c.says == "" && len(all) == 0:
		case len(all) != 1 || c.says == "" || !strings.Contains(all[0].Is, c.says) || all[0].Severity != c.severity ||
			all[0].Where != "/q":
			t.Errorf("%d of %d or %d: %+v", c.used, c.soft, c.hard, all)
		}
	}
}

// A server that opens no session is found, unless a certificate that has ended says why.
func TestWhichServersAreUnreachable(t *testing.T) {
	for _, c := range []struct {
		Server
		want string
	}{
		{Server{}, "unreachable a:1"}, {Server{Certificate: &Certificate{Days: 0}}, "unreachable a:1"},
		{Server{Certificate: &Certificate{Days: 10}}, "unreachable a:1"},
		{Server{Certificate: &Certificate{Days: -1}}, ""},
		{Server{Role: roleReadOnly}, "read-only a:1"}, {Server{Serves: true}, ""}, {Server{cut: true}, ""},
	} {
		c.Address = "a:1"
		for others, severity := range map[int]Severity{0: Unfit, 1: Warning} {
			f := &Facts{servers: []*Server{&c.Server}}
			for range others {
				f.servers = append(f.servers, &Server{Serves: true})
			}
			var want []string
			if c.want != "" {
				want = []string{fmt.Sprint(severity, " ", c.want)}
			}
			if got := brief(checkReachable(f)); !slices.Equal(got, want) {
				t.Errorf("%+v and %d others: %q, want %q", c.Server, others, got, want)
			}
		}
	}
}

// The ensemble's tick is said if it is known.
func TestATickThatIsNotKnownIsNotSaid(t *testing.T) {
	for tick, want := range map[Millis]bool{0: false, 1: true, 2e9: true} {
		m := &Meaning{EnsembleTick: tick, TickFrom: "a server"}
		if said := strings.Contains(strings.Join(m.sentences(), "\n"), "The ensemble's tick is"); said != want {
			t.Errorf("%d: said %t", tick, said)
		}
	}
}

// A certificate of the client's own that cannot be read is named as what was not asked.
func TestAnOwnCertificateThatCannotBeRead(t *testing.T) {
	for cert, want := range map[string]int{"": 0, t.TempDir() + "/missing": 1} {
		f := &Facts{settings: Settings{TLS: &zkio.TLS{Cert: cert}}}
		if f.noteOwn(); len(f.notAsked) != want || f.own != nil {
			t.Errorf("%q: %+v", cert, f.notAsked)
		}
	}
}

// A scratch node is not there if its creation was not answered.
func TestAScratchNodeWithoutAnAnswer(t *testing.T) {
	ours, theirs := net.Pipe()
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	s := Settings{}.withDefaults()
	x := &scratch{f: &Facts{settings: s}, own: s.newSession(t.Context(), "", ours), node: "/n"}
	if why := x.create(); why == "" {
		t.Error("it was created, they say")
	}
}
