package doctor

// checkCreate finds lines in which this client cannot create its node.
func checkCreate(f *Facts) []Finding {
	return f.each(func(l *Line) []Finding {
		to, sure := f.identities(l.server)
		if !sure || l.rights == nil || grants(l.rights, permCreate, to) {
			return nil
		}
		finding := Finding{ID: "may-not-create", Severity: Unfit, Where: l.Path,
			Is: "Its access list gives no identity of this client the right c: it may not take a place there.",
			Do: "Give the participants the rights crd, or give this client their credentials."}
		if l.Missing {
			finding.Where = l.parent
			finding.Is = l.Path + " does not exist, and this client may not create it there."
			finding.Do = "Create it, with an access list for the participants."
		}
		return []Finding{finding}
	})
}
