package main

import (
	"encoding/json"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { instances.Main(m, main) }

const line = "/jobs/slog"

// term is what a line of the program's own work has.
type term struct {
	Level, Msg, Line, ID, Reason string
	Token                        int64
}

// terms returns the lines of the program's own work, and how many are the library's. All lines are JSON.
func terms(t *testing.T, i *instances.Instance) (own []term, library int) {
	t.Helper()
	for _, text := range i.Lines() {
		if text == instances.Ended {
			continue
		}
		var any map[string]any
		if err := json.Unmarshal([]byte(text), &any); err != nil {
			t.Errorf("%v: %s", err, text)
		}
		if any["incumbent"] != nil {
			library++
		}
		var one term
		if err := json.Unmarshal([]byte(text), &one); err == nil && one.Token != 0 {
			own = append(own, one)
		}
	}
	return own, library
}

// Each line is JSON, those of a term name it, and the next leader's token is higher.
func TestEachLineIsJSON(t *testing.T) {
	srv := zkmem.Start(t)
	a := instances.Start(t, srv.Addr())
	a.Says(t, `"msg":"work begins"`)
	b := instances.Start(t, srv.Addr())
	instances.InLine(t, srv, line, 2)
	instances.ExpireFirst(t, srv, line)
	a.Says(t, `"msg":"work has ended"`)
	b.Says(t, `"msg":"work begins"`)
	instances.InLine(t, srv, line, 2)
	b.Kill()
	instances.ExpireFirst(t, srv, line)
	a.SaysTimes(t, `"msg":"work begins"`, 2)
	a.Stop(t)
	ofA, library := terms(t, a)
	if len(ofA) != 4 || ofA[1].Reason == "" || ofA[3].Reason != "" || library == 0 {
		t.Fatalf("%+v, and %d lines of the library", ofA, library)
	}
	for i, one := range ofA {
		if one.Level != "INFO" || one.Line != line || one.ID == "" || (one.Msg == "work begins") != (i%2 == 0) {
			t.Errorf("%+v", one)
		}
	}
	ofB, _ := terms(t, b)
	if len(ofB) != 1 || ofB[0].Token <= ofA[0].Token || ofA[2].Token <= ofB[0].Token || ofA[1].Token != ofA[0].Token {
		t.Errorf("the tokens of %+v and %+v do not grow", ofA, ofB)
	}
}
