package doctor

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// short returns a duration with three figures at most.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

func millis(d time.Duration) *Millis {
	m := Millis(d)
	return &m
}

// checkTick finds a tick that is longer than the one a client counts with, ticks that differ, and none that is known.
func checkTick(f *Facts) (all []Finding) {
	counted := f.counted()
	ticks, unknown := map[time.Duration]bool{}, ""
	for _, v := range f.ours() {
		tick, from, said := v.tickOf()
		switch {
		case tick == 0:
			unknown = v.Address
			continue
		case tick > counted:
			severity := Warning
			if said {
				severity = Unfit
			}
			is := fmt.Sprintf("Its tick is %s (by %s), and a client counts with %s: belief can outlast the "+
				"session.", tick, from, counted)
			all = append(all, Finding{ID: "tick-too-long", Severity: severity, Where: v.Address, Is: is,
				Do: fmt.Sprintf("Set Config.Tick to %s (--tick %s).", tick, tick), Number: millis(tick)})
		case !said && f.settings.Tick == 0:
			all = append(all, Finding{ID: "tick-assumed", Severity: Note, Where: v.Address, Number: millis(tick),
				Is: fmt.Sprintf("It does not say its tick. It is %s if minSessionTimeout and "+
					"maxSessionTimeout are not "+
					"set, and can be longer if they are.", tick),
				Do: fmt.Sprintf("Look its tickTime up. If it is longer than %s, set Config.Tick to it.", counted)})
		}
		ticks[tick] = true
	}
	if len(ticks) > 1 {
		all = append(all, Finding{ID: "ticks-differ", Severity: Warning, Where: ensemble,
			Is: "The servers have different ticks.",
			Do: "Set the same tickTime on all: any of them may lead."})
	}
	if unknown != "" && f.settings.Tick == 0 {
		all = append(all, Finding{ID: "tick-unknown", Severity: Warning, Where: unknown,
			Is: fmt.Sprintf("It does not say its tick, and its limits of session timeouts do not show it; a "+
				"client assumes %s.", counted),
			Do: "Look its tickTime up, and set Config.Tick to it if it is longer."})
	}
	return all
}

// checkSyncLimit finds a syncLimit that is larger than the one a client counts with.
func checkSyncLimit(f *Facts) []Finding {
	limit := f.syncLimit()
	if limit <= f.settings.SyncLimit {
		return nil
	}
	severity, why := Note, "With this session timeout it does not matter, with a longer one belief can outlast "+
		"the session."
	if f.bounds().BySync {
		severity, why = Unfit, "Belief can outlast the session."
	}
	return []Finding{{ID: "sync-limit", Severity: severity, Where: ensemble,
		Is: fmt.Sprintf("The servers' syncLimit is %d, and a client counts with %d. %s", limit,
			f.settings.SyncLimit, why),
		Do: fmt.Sprintf("Set Config.SyncLimit to %d.", limit)}}
}

// checkGrants finds session timeouts that are not the one asked for, and those that differ.
func checkGrants(f *Facts) (all []Finding) {
	asked := f.settings.Timeout
	var first *Server
	for _, v := range f.ours() {
		granted := time.Duration(v.Granted.Asked)
		switch {
		case granted < asked:
			all = append(all, Finding{ID: "timeout-lowered", Severity: Warning, Where: v.Address,
				Number: millis(granted),
				Is: fmt.Sprintf("It grants a session timeout of %s, less than the %s that are asked for.",
					granted, asked),
				Do: fmt.Sprintf("Raise its maxSessionTimeout, or ask for %s and read what that means "+
					"below.", granted)})
		case granted > asked:
			all = append(all, Finding{ID: "timeout-raised", Severity: Warning, Where: v.Address,
				Number: millis(granted),
				Is: fmt.Sprintf("It grants a session timeout of %s, more than the %s that are asked for.",
					granted, asked),
				Do: fmt.Sprintf("Ask for %s, or lower its minSessionTimeout or tickTime: a takeover after a "+
					"crash takes that long.", granted)})
		}
		if v.Granted.Least == 0 {
			continue
		}
		if first == nil {
			first = v
		} else if *v.Granted != *first.Granted {
			all = append(all, Finding{ID: "grants-differ", Severity: Warning, Where: v.Address,
				Is: fmt.Sprintf("Its limits of session timeouts are %s and %s, those of %s %s and %s.",
					time.Duration(v.Granted.Least),
					time.Duration(v.Granted.Most), first.Address, time.Duration(first.Granted.Least),
					time.Duration(first.Granted.Most)),
				Do: "Set the same tickTime, minSessionTimeout and maxSessionTimeout on all servers."})
		}
	}
	return all
}

// beliefPart is the part of a session timeout for which belief lasts at least, in an ensemble that is fit.
const beliefPart = 4

// usable returns the shortest session timeout, in tenths of a second, with which belief lasts for that part of it.
func (f *Facts) usable() time.Duration {
	const step = 100 * time.Millisecond
	t := machines.ShortestTimeout(f.counted(), f.settings.ObserverMasters).Truncate(step)
	for machines.BoundsOf(t, f.counted(), f.settings.SyncLimit, f.settings.ObserverMasters).First < t/beliefPart {
		t += step
	}
	return t
}

// checkBelief finds a session timeout with which nobody can lead, or hardly.
func checkBelief(f *Facts) []Finding {
	first := f.bounds().First
	if len(f.ours()) == 0 || first >= f.granted()/beliefPart {
		return nil
	}
	least := f.usable()
	if first > 0 {
		return []Finding{{ID: "belief-short", Severity: Warning, Where: ensemble, Number: millis(first),
			Is: fmt.Sprintf("With a session timeout of %s and a tick of %s a leader may be sure for %s only, after it "+
				"has sent its first heartbeat: one slow answer ends its leadership.", f.granted(), f.counted(),
				short(first)),
			Do: fmt.Sprintf("Have %s or more granted, or set Config.Tick to the servers' tickTime if that is "+
				"shorter.", least)}}
	}
	return []Finding{{ID: "timeout-too-short", Severity: Unfit, Where: ensemble, Number: millis(f.granted()),
		Is: fmt.Sprintf("With a session timeout of %s and a tick of %s no time is left to lead.", f.granted(),
			f.counted()),
		Do: fmt.Sprintf("Have %s or more granted, or set Config.Tick to the servers' tickTime if that is "+
			"shorter.", least)}}
}

// checkObserverMasters finds observer masters that the client is not set to.
func checkObserverMasters(f *Facts) []Finding {
	v := f.observerMaster()
	if v == nil || f.settings.ObserverMasters {
		return nil
	}
	return []Finding{{ID: "observer-master", Severity: Unfit, Where: v.Address,
		Is: fmt.Sprintf("Observers are connected to it (%d), so their reports of sessions come up to a tick "+
			"late.", v.observers),
		Do: "Set Config.ObserverMasters (--observer-masters) for clients that may be connected to such an observer."}}
}

// checkLag finds servers that apply commits late.
func checkLag(f *Facts) (all []Finding) {
	first := f.bounds().First
	for _, v := range f.ours() {
		switch {
		case v.stranger:
		case v.behind:
			all = append(all, Finding{ID: "behind", Severity: Warning, Where: v.Address,
				Is: fmt.Sprintf("It has not applied a transaction within %s of its commit.", f.settings.Step),
				Do: "Look at its log and its disk: clients there cannot lead, and read what is old."})
		case v.Lag != nil && first > 0 && time.Duration(*v.Lag) > first/4:
			all = append(all, Finding{ID: "lag", Severity: Warning, Where: v.Address, Number: v.Lag,
				Is: fmt.Sprintf("It applies a transaction up to %s after its commit; belief lasts %s.",
					short(time.Duration(*v.Lag)), short(first)),
				Do: "Look at its log, its disk and its network, or ask for a longer session timeout."})
		}
	}
	return all
}

// checkAnswers finds servers whose syncs take a large part of the time for which belief lasts.
func checkAnswers(f *Facts) (all []Finding) {
	first := f.bounds().First
	for _, v := range f.ours() {
		if v.Sync == nil || first <= 0 || time.Duration(*v.Sync) <= first/4 {
			continue
		}
		severity := Warning
		if time.Duration(*v.Sync) >= first {
			severity = Unfit
		}
		all = append(all, Finding{ID: "slow-sync", Severity: severity, Where: v.Address, Number: v.Sync,
			Is: fmt.Sprintf("A sync takes %s; belief lasts %s after a heartbeat was sent.",
				short(time.Duration(*v.Sync)), short(first)),
			Do: "Look at the network and the load of the ensemble's leader, or ask for a longer session timeout."})
	}
	return all
}
