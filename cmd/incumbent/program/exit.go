package program

// Exit codes in addition to those of cli.
const (
	exitWarned      = 1   // doctor: the ensemble is fit with warnings
	exitNotFit      = 2   // doctor: it is not fit
	exitDamaged     = 2   // replay, why: the log cannot be read, or another chart wrote it
	exitDiverged    = 3   // replay, why: the same events had other effects
	exitTwo         = 4   // why: two had the right to believe at once
	exitCannotTell  = 5   // why: the logs do not show it
	exitGap         = 6   // replay: the same up to a gap
	exitTwoWorked   = 7   // why: never two with the right, and two worked at once
	exitLateWrite   = 8   // why: a guarded write was committed out of its term
	exitWorkOpen    = 9   // why: never two with the right; whether two worked is not recorded
	exitNobody      = 65  // EX_DATAERR: resign found nobody, or more than one
	exitNoInput     = 66  // EX_NOINPUT
	exitUnavailable = 69  // EX_UNAVAILABLE: no server answered, or an address cannot be listened on
	exitSystem      = 71  // EX_OSERR
	exitIO          = 74  // EX_IOERR
	exitLost        = 75  // EX_TEMPFAIL: leadership was lost
	exitIncomplete  = 75  // EX_TEMPFAIL: doctor could not ask everything
	exitNoAuth      = 77  // EX_NOPERM
	exitConfig      = 78  // EX_CONFIG: something in the line has to be corrected by hand
	exitTimeout     = 124 // as timeout(1): --try has passed
	exitCannotRun   = 126 // as shells do
	exitNotFound    = 127
	exitSignal      = 128 // plus the signal's number
)
