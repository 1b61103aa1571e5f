package doctor

import (
	"fmt"
	"time"
)

// checkScratch finds a scratch node that could not be created.
func checkScratch(f *Facts) []Finding {
	if f.noScratch == "" {
		return nil
	}
	return []Finding{{ID: "not-measured", Severity: Warning, Where: f.settings.Scratch,
		Is: "Nothing was measured, because the scratch node cannot be created: " + f.noScratch + ".",
		Do: "Name a directory in which this client may create, with --scratch."}}
}

// checkLatency finds writes and watches that take a large part of the time for which belief lasts.
func checkLatency(f *Facts) (all []Finding) {
	first := f.bounds().First
	if f.deep == nil || first <= 0 {
		return nil
	}
	for _, one := range []struct {
		Finding
		what  string
		times *Times
	}{{Finding{ID: "slow-commit"}, "A committed write", f.deep.Commit},
		{Finding{ID: "slow-watch"}, "The event of a watch", f.deep.Watch}} {
		if one.times == nil || time.Duration(one.times.Median) <= first/4 {
			continue
		}
		severity := Warning
		if time.Duration(one.times.Median) >= first {
			severity = Unfit
		}
		one.Severity, one.Where, one.Number = severity, f.deep.Server, &one.times.Median
		one.Is = fmt.Sprintf("%s takes %s; belief lasts %s after a heartbeat was sent.", one.what,
			short(time.Duration(one.times.Median)), short(first))
		one.Do = "Look at the disks of the servers and the network between them, or ask for a longer session timeout."
		all = append(all, one.Finding)
	}
	return all
}

// slowDisk is what a disk may take on average to write the log before it is found.
const slowDisk = 100 * time.Millisecond

// checkDisks finds servers whose disks are slow, as they say.
func checkDisks(f *Facts) (all []Finding) {
	for _, v := range f.ours() {
		if v.fsync > slowDisk {
			all = append(all, Finding{ID: "slow-disk", Severity: Warning, Where: v.Address, Number: millis(v.fsync),
				Is: fmt.Sprintf("Its disk takes %s on average to write the transaction log.", short(v.fsync)),
				Do: "Give the transaction log a disk of its own: each heartbeat that is a write waits for it."})
		}
	}
	return all
}

// checkKinds finds servers without containers or recursive watches.
func checkKinds(f *Facts) (all []Finding) {
	if f.deep == nil {
		return nil
	}
	for _, kind := range []struct {
		Finding
		what, then string
		there      *bool
	}{{Finding{ID: "no-containers"}, "containers", "directories of lines stay when nobody is in line",
		f.deep.Containers},
		{Finding{ID: "no-recursive-watches"}, "recursive watches", "a tree cache has a watch for each node",
			f.deep.Recursive}} {
		if kind.there != nil && !*kind.there {
			kind.Severity, kind.Where = Note, f.deep.Server
			kind.Is = fmt.Sprintf("It has no %s: %s.", kind.what, kind.then)
			kind.Do = "Nothing has to be done for elections: clients find it out and go on without."
			all = append(all, kind.Finding)
		}
	}
	return all
}

// checkSizes finds servers that take no large requests.
func checkSizes(f *Facts) (all []Finding) {
	for _, v := range f.ours() {
		is := ""
		switch {
		case v.tooLarge > 0:
			is = fmt.Sprintf("It ends the connection of a client that sends %d bytes at a time", v.tooLarge)
			if v.largest > 0 {
				is += fmt.Sprintf(", and takes %d", v.largest)
			}
		case v.buffer > 0 && v.buffer < fullRequest:
			is = fmt.Sprintf("It ends the connection of a client that sends more than %d bytes at a time", v.buffer)
		}
		if is != "" {
			all = append(all, Finding{ID: "small-buffer", Severity: Warning, Where: v.Address, Is: is + ".",
				Do: "Raise its -Djute.maxbuffer to 1048575, the default: clients send up to that, Config.MaxRequest."})
		}
	}
	return all
}
