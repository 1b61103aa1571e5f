package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

// next is what is left to do.
var next = template.Must(template.New("").Parse(
	`{{.Version}} of {{.Module}} is in {{.Dir}}.
It is the commit {{.Commit}} with the folder's CHANGELOG.md, built by {{.Toolchain}}.
{{if .Proved}}make prove passed.{{else}}make prove was skipped (PROVE=no): a trial, publish nothing of it.{{end}}
Two builds for {{.Twice}} were the same bytes. No tag was made, and nothing was pushed.
{{range .Early}}{{.}} says that nothing is published yet: correct it, commit, and make the release again.
{{end}}
1. Commit the changelog, and nothing else, unless it is what is committed already:

   cp {{.Dir}}/CHANGELOG.md CHANGELOG.md
   git commit -m "all: {{.Version}}" CHANGELOG.md

2. Tag that commit and push it. The module's checksum must be that of the programs, {{.Sum}}:

   git tag -a {{.Version}} -m {{.Version}}
   git push origin HEAD {{.Version}}
   go mod download -json {{.Module}}@{{.Version}}
{{if .Others}}
3. Then tag the modules that require it, on a branch of their own, because their replace goes:

   git switch -c release-{{.Version}}
{{- range .Others}}
   (cd {{.}} && go mod edit -dropreplace={{$.Module}} -require={{$.Module}}@{{$.Version}} && go mod tidy)
{{- end}}
   git commit -am "integrations: {{.Version}}"
{{- range .Others}}
   git tag -a {{.}}/{{$.Version}} -m {{.}}/{{$.Version}}
{{- end}}
   git push origin release-{{.Version}}{{range .Others}} {{.}}/{{$.Version}}{{end}}
{{end}}`))

// steps returns what is left to do: what to commit, and the tags to push, in their order. Nothing of it is done here.
func (r *release) steps(src *source, others []string, sum string) (string, error) {
	var early []string
	for _, name := range []string{"README.md", "CHANGELOG.md"} {
		text := string(src.files[name])
		if strings.Contains(text, "not published yet") || strings.Contains(text, "No version is published yet") {
			early = append(early, name)
		}
	}
	var b strings.Builder
	err := next.Execute(&b, map[string]any{
		"Version": r.version, "Module": src.module, "Dir": r.dir, "Commit": src.commit, "Toolchain": src.toolchain,
		"Proved": r.prove, "Twice": r.platforms[0], "Early": early, "Sum": sum, "Others": others,
	})
	return b.String(), err
}

// integrations returns the modules that have a version of their own, those that others require first.
func (r *release) integrations(ctx context.Context, src *source) (ordered []string, err error) {
	list, err := output(ctx, r.root, nil, "bash", "scripts/modules")
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(strings.Fields(list), func(dir string) bool {
		return !strings.HasPrefix(dir, "integrations/")
	})
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(dir string) bool {
			return !slices.ContainsFunc(left, func(other string) bool {
				return other != dir && bytes.Contains(src.files[dir+"/go.mod"], []byte(src.module+"/"+other+" v"))
			})
		})
		if i < 0 {
			return nil, fmt.Errorf("the modules %s require each other: none can be first", strings.Join(left, ", "))
		}
		ordered = append(ordered, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return ordered, nil
}
