package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

const unreleased = "## Unreleased\n"

// moveUnreleased returns the changelog with what is under Unreleased under the version. A changelog that has the
// version's section already, and nothing unreleased, stays as it is.
func moveUnreleased(text, version string, at time.Time) (string, error) {
	exists := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(version) + `( |$)`).MatchString(text)
	before, rest, ok := strings.Cut("\n"+text, "\n"+unreleased)
	switch {
	case !ok && exists:
		return text, nil
	case !ok:
		return "", fmt.Errorf("CHANGELOG.md has no line %q", strings.TrimSpace(unreleased))
	}
	body, after := rest, ""
	if i := strings.Index("\n"+rest, "\n## "); i >= 0 {
		body, after = rest[:i], rest[i:]
	}
	switch body = strings.TrimSpace(body); {
	case exists && body == "":
		return text, nil
	case exists:
		return "", fmt.Errorf("CHANGELOG.md has a section %s, and changes under Unreleased: want them in one", version)
	case body == "":
		return "", fmt.Errorf("CHANGELOG.md has nothing under Unreleased: say what %s changes", version)
	}
	section := fmt.Sprintf("%s\n## %s (%s)\n\n%s\n", unreleased, version, at.Format(time.DateOnly), body)
	if after != "" {
		section += "\n"
	}
	return strings.TrimPrefix(before+"\n", "\n") + section + after, nil
}
