package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// bom is a list of what a program links, as CycloneDX 1.6 has it: see https://cyclonedx.org/docs/1.6/json/.
type bom struct {
	Schema       string       `json:"$schema"`
	BOMFormat    string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// licenceRow is a row of the table in THIRD_PARTY.md: module, version, licence.
var licenceRow = regexp.MustCompile(`(?m)^\| (\S+) \| (\S+) \| (\S+) \| .* \|$`)

// linked returns the modules in a program, in their order. Each has the checksum of go.sum, and its licence in
// THIRD_PARTY.md.
func linked(src *source, info *debug.BuildInfo) (all []component, err error) {
	licences := map[string]string{}
	for _, m := range licenceRow.FindAllStringSubmatch(string(src.files["THIRD_PARTY.md"]), -1) {
		licences[m[1]+" "+m[2]] = m[3]
	}
	for _, m := range info.Deps {
		name := m.Path + " " + m.Version
		switch {
		case m.Replace != nil:
			return nil, fmt.Errorf("it links %s in place of %s: a release has no replace", m.Replace.Path, m.Path)
		case !strings.Contains("\n"+string(src.files["go.sum"]), "\n"+name+" "+m.Sum+"\n"):
			return nil, fmt.Errorf("it links %s with the checksum %s, which is not in go.sum", name, m.Sum)
		case licences[name] == "":
			return nil, fmt.Errorf("THIRD_PARTY.md has no licence for %s, which is linked: run make licences", name)
		}
		all = append(all, newComponent("library", m.Path, m.Version, licences[name], property{"go:sum", m.Sum}))
	}
	std := newComponent("library", "std", strings.TrimPrefix(info.GoVersion, "go"), "BSD-3-Clause")
	return append(all, std), nil
}

func newComponent(kind, name, version, licence string, properties ...property) component {
	purl := "pkg:golang/" + name + "@" + version
	c := component{Type: kind, Ref: purl, Name: name, Version: version, PURL: purl, Properties: properties}
	c.Licenses = make([]license, 1)
	c.Licenses[0].License.ID = licence
	return c
}

// sbom returns the list for one program.
func sbom(src *source, b *built) ([]byte, error) {
	modules, err := linked(src, b.info)
	if err != nil {
		return nil, err
	}
	main := newComponent("application", src.module, b.info.Main.Version, "Apache-2.0",
		property{"go:sum", b.info.Main.Sum}, property{"go:os", b.goos}, property{"go:arch", b.goarch})
	sum := sha256.Sum256(b.bytes)
	main.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum[:])}}
	main.PURL += "?goarch=" + b.goarch + "&goos=" + b.goos + "#" + program
	list := bom{
		Schema:    "http://cyclonedx.org/schema/bom-1.6.schema.json",
		BOMFormat: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata:   metadata{src.time.Format(time.RFC3339), main},
		Components: modules, Dependencies: []dependency{{Ref: main.Ref}},
	}
	for _, m := range modules {
		list.Dependencies[0].DependsOn = append(list.Dependencies[0].DependsOn, m.Ref)
		list.Dependencies = append(list.Dependencies, dependency{Ref: m.Ref})
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(list)
	return text.Bytes(), err
}
