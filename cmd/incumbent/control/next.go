package control

import (
	"net/http"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// rule is what happens to the next requests of a kind.
type rule struct {
	ask
	id      int64 // 0: of any session
	server  int   // 0: at any server
	verdict zkmem.Verdict
	left    int
}

// ruleFields are those of a request for a rule.
const ruleFields = "op path session action delay code times server"

const (
	maxRules = 1000
	maxDelay = time.Hour
)

var actions = map[string]zkmem.Action{
	"delay": zkmem.Serve, "refuse": zkmem.Refuse, "cutBefore": zkmem.CutBefore, "cutAfter": zkmem.CutAfter,
	"loseReply": zkmem.LoseReply, "ignore": zkmem.Ignore, "misreport": zkmem.Misreport,
}

// ops are the names of operations, as ZooKeeper's documentation has them.
var ops = func() map[string]zkmem.OpCode {
	names := map[string]zkmem.OpCode{}
	for op := zkmem.OpCloseSession; op <= zkmem.OpWhoAmI; op++ {
		if name := op.String(); !strings.Contains(name, "(") && op != zkmem.OpError {
			names[name] = op
		}
	}
	return names
}()

// addRule says what happens to the next requests of an operation.
func (h *handler) addRule(_ *http.Request, a ask) (any, error) {
	r := &rule{ask: a, left: max(a.Times, 1)}
	action, known := actions[a.Action]
	if !known {
		return nil,
			refuse(http.StatusBadRequest,
				"action is %q: want delay, loseReply, cutBefore, cutAfter, refuse, misreport or ignore", a.Action)
	}
	r.verdict = zkmem.Verdict{Action: action, Code: zkmem.Code(a.Code)}
	if _, known := ops[a.Op]; !known && a.Op != "" {
		return nil,
			refuse(http.StatusBadRequest,
				"op is %q: want an operation, such as \"create\", \"setData\", \"multi\" or \"createSession\" (a "+
					"handshake), or none for any", a.Op)
	}
	if a.Times < 0 {
		return nil, refuse(http.StatusBadRequest, "times is %d: want at least 1", a.Times)
	}
	if (a.Action == "refuse" || a.Action == "misreport") != (a.Code != 0) {
		return nil,
			refuse(http.StatusBadRequest,
				"code is %d with action %q: refuse and misreport want a code of ZooKeeper, such as -4, and no other "+
					"action has one", a.Code, a.Action)
	}
	if a.Delay != "" || a.Action == "delay" {
		delay, ok := parseDelay(a.Delay)
		if !ok || delay == 0 {
			return nil,
				refuse(http.StatusBadRequest,
					"delay is %q: want a positive time of at most an hour, such as \"2s\"", a.Delay)
		}
		r.verdict.Delay = delay
	}
	if a.Session != "" {
		id, err := a.session()
		if err != nil {
			return nil, err
		}
		r.id = id
	}
	if a.Server != nil {
		if _, err := h.servers.numbered(*a.Server); err != nil {
			return nil, err
		}
		r.server = *a.Server
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.next) >= maxRules {
		return nil, refuse(http.StatusTooManyRequests, "%d rules wait for their requests: that is the most", maxRules)
	}
	h.next = append(h.next, r)
	return done, nil
}

// parseDelay reads a time from 0 to maxDelay.
func parseDelay(text string) (delay time.Duration, ok bool) {
	delay, err := time.ParseDuration(text)
	return delay, err == nil && delay >= 0 && delay <= maxDelay
}

// decide publishes a request to a server, and takes the first rule that concerns it. A rule for any operation leaves
// pings alone.
func (h *handler) decide(server int, q zkmem.Request) zkmem.Verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.publish(server, q)
	for i, r := range h.next {
		if r.server != 0 && r.server != server ||
			r.Op == "" && q.Op == zkmem.OpPing || r.Op != "" && ops[r.Op] != q.Op ||
			r.Path != "" && r.Path != q.Path || r.id != 0 && r.id != q.Session {
			continue
		}
		if r.left--; r.left == 0 {
			h.next = append(h.next[:i:i], h.next[i+1:]...)
		}
		return r.verdict
	}
	return zkmem.Verdict{}
}
