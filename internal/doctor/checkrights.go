package doctor

// checkRights finds lines in which this client cannot create its node or delete it, and servers that check no access
// list.
func checkRights(f *Facts) []Finding {
	return f.each(func(l *Line) (all []Finding) {
		create := Finding{ID: "may-not-create", Severity: Unfit, Where: l.Path,
			Is: "This client may not create a node there: it cannot take a place in line.",
			Do: "Give the participants the rights crd, or give this client their credentials."}
		if l.Missing {
			create.Where = l.above[0].path
			create.Is = l.Path + " does not exist, and this client may not create it there."
			create.Do = "Create it, with an access list for the participants."
		}
		if l.MayCreate != nil && !*l.MayCreate {
			all = append(all, create)
		}
		if l.MayDelete != nil && !*l.MayDelete && !l.Missing {
			all = append(all, Finding{ID: "may-not-delete", Severity: Warning, Where: l.Path,
				Is: "This client may create a node there, and not delete it: its place is kept until its session ends.",
				Do: "Give the participants the rights crd."})
		}
		if l.unchecked {
			all = append(all, Finding{ID: "lists-unchecked", Severity: Warning, Where: l.Path,
				Is: "A client without credentials may create a node there, although the access list gives that right " +
					"to names only.",
				Do: "Take skipACL out of the servers' settings: no access list protects anything."})
		}
		return all
	})
}
