package doctor

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// adminOf is the admin server of a server with this port for clients, a tick of 4 s and a jute.maxbuffer of 64 KB.
func adminOf(port int) http.Handler {
	mux := http.NewServeMux()
	for command, answer := range map[string]string{
		"configuration":     fmt.Sprintf(`{"client_port":%d,"tick_time":4000,"server_id":1,"error":null}`, port),
		"stats":             `{"version":"3.9.4-abc, built on 2025","server_stats":{"server_state":"follower"}}`,
		"system_properties": `{"jute.maxbuffer":"65536","error":null}`,
	} {
		mux.HandleFunc("/commands/"+command, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
	}
	return mux
}

// What the words do not say, the admin server says, if it is that of the server.
func TestTheAdminServerIsAsked(t *testing.T) {
	ask := func(t *testing.T, port int, now func() time.Time) Report {
		w, _ := alone(t, zkmem.Options{Tick: 4 * time.Second})
		w.words["zk:2181"] = true
		w.admin = map[string]http.Handler{"zk:8080": adminOf(port)}
		s := w.settings()
		s.AdminPort, s.Now = 8080, now
		return Examine(t.Context(), s)
	}
	inBubble(t, "its own", func(t *testing.T) {
		r := ask(t, 2181, nil)
		found(t, r, "unfit tick-too-long zk:2181", "warning small-buffer zk:2181")
		v := r.Servers[0]
		if v.Version != "3.9.4" || v.Role != "follower" || v.Settings.From != "admin server" || v.Clock == nil {
			t.Errorf("%+v", v)
		}
	})
	inBubble(t, "with a clock that is an hour off", func(t *testing.T) {
		found(t, ask(t, 2181, func() time.Time { return time.Now().Add(-time.Hour) }),
			"unfit tick-too-long zk:2181", "warning wrong-clock zk:2181", "warning small-buffer zk:2181")
	})
	inBubble(t, "that of another server", func(t *testing.T) {
		found(t, ask(t, 2182, nil), "warning tick-too-long zk:2181", "note words-closed zk:2181")
	})
}

// What mntr says of the disk and of observers is taken.
func TestWhatMntrSays(t *testing.T) {
	v := &Server{Address: "zk:2181", Given: true, Serves: true, Granted: &Granted{Asked: Millis(15 * time.Second)}}
	v.readMntr("zk_version\t3.9.5-abc, built on " +
		"2026\nzk_server_state\tfollower\nzk_avg_fsynctime\t250.5\nzk_synced_observers\t2\n")
	f := &Facts{settings: Settings{}.withDefaults(), servers: []*Server{v}}
	r := judge(f)
	want := []string{"unfit observer-master zk:2181", "warning tick-unknown zk:2181", "warning slow-disk zk:2181"}
	found(t, r, want...)
	if set := r.Meaning.Set; len(set) != 1 || set[0].Name != "Config.ObserverMasters" || !set[0].Must {
		t.Errorf("%+v", set)
	}
}

// A number that no server can have is not taken.
func TestNumbersThatNoServerHas(t *testing.T) {
	const large = "9223372036854775807"
	for _, conf := range []string{"tickTime=" + large, "tickTime=0", "tickTime=-5", "tickTime=1" + large,
		"tickTime=x"} {
		v := &Server{}
		if v.readConf(conf + "\nsyncLimit=5\n"); v.Settings != (Learned{}) {
			t.Errorf("%s: %+v", conf, v.Settings)
		}
	}
	v := &Server{}
	if v.readConf("tickTime=2000\nsyncLimit=" + large + "\n"); v.Settings.SyncLimit != 0 || v.Settings.From == "" {
		t.Errorf("%+v", v.Settings)
	}
}
