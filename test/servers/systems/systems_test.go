package systems

import (
	"testing"
)

// allSystems are the systems in the order of the tables.
var allSystems = []*system{elasticJob, hadoop, flink, kafka, helix, bookKeeper, solr, hbase}

// TestSystems runs the systems that the flag names, each on both kinds of server.
func TestSystems(t *testing.T) {
	if *part == "" {
		t.Log("no system was asked for: make systems")
		return
	}
	found := false
	for _, one := range allSystems {
		if *part == "all" || *part == "short" && one.short || *part == one.key {
			found = true
			t.Run(one.key, func(t *testing.T) { compare(t, one) })
		}
	}
	if !found {
		t.Errorf("no system is called %q: want all, short or one of %q", *part, keys())
	}
}

func keys() (all []string) {
	for _, one := range allSystems {
		all = append(all, one.key)
	}
	return all
}

// compare runs a system on each kind of server, compares, and writes what came of it.
func compare(t *testing.T, one *system) {
	classPath := one.classPath(t)
	var runs []run
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			s := newStage(t, kind.start(t, one.members), classPath)
			one.play(s)
			runs = append(runs, run{kind.name, s.steps, s.answers()})
		})
	}
	if t.Failed() || len(runs) < len(kinds) {
		t.Fatal("not compared")
	}
	wrong := append(stepsDiffer(runs[0], runs[1]), answersDiffer(runs[0], runs[1], one.races)...)
	for _, w := range wrong {
		t.Error(w)
	}
	t.Log(section(one, runs))
	if len(wrong) == 0 && *write {
		ok(t, writeResults(one, runs))
	}
}
