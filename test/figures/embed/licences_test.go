package embed

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write THIRD_PARTY.md")

// linkedModule is somebody else's module that the library or the program links on some system.
type linkedModule struct {
	path, version, dir string
	library            bool // the library links it, and not only the program
}

// linkedModules returns what the library and the program link, on any of three systems.
func linkedModules(t *testing.T, root string) []linkedModule {
	t.Helper()
	found := map[string]linkedModule{}
	for _, part := range []string{".", "./cmd/incumbent"} {
		for _, system := range []string{"linux", "darwin", "windows"} {
			list := exec.Command("go", "list", "-deps", "-f",
				"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", part)
			list.Dir, list.Env = root, append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
			out, err := list.Output()
			if err != nil {
				t.Fatalf("go list %s for %s: %v", part, system, err)
			}
			for _, line := range strings.Fields(strings.ReplaceAll(string(out), "\t", "|")) {
				cells := strings.Split(line, "|")
				found[cells[0]] = linkedModule{cells[0], cells[1], cells[2], part == "." || found[cells[0]].library}
			}
		}
	}
	var all []linkedModule
	for _, path := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[path])
	}
	return all
}

// licence returns the licence of a text; "" for one that is not among those that this project may link.
func licence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	switch {
	case strings.Contains(text, "Apache License Version 2.0"):
		return "Apache-2.0"
	case strings.Contains(text, "Redistribution and use in source and binary forms") &&
		strings.Contains(text, "Neither the name"):
		return "BSD-3-Clause"
	case strings.Contains(text,
		"Permission is hereby granted, free of charge, to any person obtaining a copy of this software"):
		return "MIT"
	}
	return ""
}

// THIRD_PARTY.md has the licence of each module that is linked: a binary is handed on with these texts.
func TestThirdPartyLicences(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	table, texts := "", ""
	for _, m := range linkedModules(t, root) {
		files, err := filepath.Glob(filepath.Join(m.dir, "LICEN[SC]E*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s has the licences %q", m.path, files)
		}
		text := strings.TrimSpace(unixText(t, files[0]))
		name, by := licence(text), "the library, and `incumbent`"
		if name == "" {
			t.Errorf("the licence of %s is none of Apache-2.0, BSD-3-Clause and MIT: may it be linked?\n%s", m.path,
				text)
		}
		if !m.library {
			by = "`incumbent`"
		}
		table += fmt.Sprintf("| %s | %s | %s | %s |\n", m.path, m.version, name, by)
		texts += fmt.Sprintf("\n## %s\n\n```text\n%s\n```\n", m.path, text)
		if notices, _ := filepath.Glob(filepath.Join(m.dir, "NOTICE*")); len(notices) > 0 {
			texts += fmt.Sprintf("\n```text\n%s\n```\n", strings.TrimSpace(unixText(t, notices[0])))
		}
	}
	want := `# Licences of what is linked

If you hand on a binary that has this library in it, or the program ` + "`incumbent`" +
		`, hand on these texts as well, and Go's own licence. A test
compares this page with the modules that are linked, on Linux, macOS and Windows; ` + "`make licences`" +
		` writes it. The modules in ` + "`integrations`" + ` link their
own libraries besides.

| module | version | licence | linked by |
|---|---|---|---|
` + table + texts
	file := filepath.Join(root, "THIRD_PARTY.md")
	if *rewrite {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := unixText(t, file); got != want {
		t.Error("THIRD_PARTY.md is not what is linked: run make licences, and read the diff")
	}
	for text, want := range map[string]string{"GNU GENERAL PUBLIC LICENSE": "",
		"Apache License\n  Version 2.0": "Apache-2.0"} {
		if got := licence(text); got != want {
			t.Errorf("the licence of %q is %q, want %q", text, got, want)
		}
	}
}
