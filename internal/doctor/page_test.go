package doctor

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page has every finding of the checks, and no other.
func TestThePageHasEveryFinding(t *testing.T) {
	var made []string
	files, err := filepath.Glob("check*.go")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`ID: +"([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
			made = append(made, m[1])
		}
	}
	page, err := os.ReadFile("../../docs/api/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "<!-- findings -->")
	table, _, _ = strings.Cut(table, "\n## ")
	var said []string
	for _, cell := range regexp.MustCompile("(?m)^\\| `[^|]*").FindAllString(table, -1) {
		for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cell, -1) {
			said = append(said, m[1])
		}
	}
	slices.Sort(made)
	slices.Sort(said)
	if made = slices.Compact(made); !slices.Equal(made, said) {
		t.Errorf("docs/api/doctor.md has the findings\n%q, the checks have\n%q", said, made)
	}
}

// The page has every name of the JSON object, and no other.
func TestThePageHasEveryName(t *testing.T) {
	var made []string
	namesOf(reflect.TypeFor[Report](), &made)
	page, err := os.ReadFile("../../docs/api/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## `--json`\n")
	section = regexp.MustCompile("`(Ms|ensemble|cdrwa|incumbent.Config|--json)`").ReplaceAllString(section, "")
	var said []string
	for _, m := range regexp.MustCompile("`([A-Za-z.]+)`").FindAllStringSubmatch(section, -1) {
		said = append(said, m[1][strings.LastIndex(m[1], ".")+1:])
	}
	slices.Sort(made)
	slices.Sort(said)
	if made, said = slices.Compact(made), slices.Compact(said); !slices.Equal(made, said) {
		t.Errorf("docs/api/doctor.md has the names\n%q, the object has\n%q", said, made)
	}
}

// namesOf adds the names that values of a type have in JSON.
func namesOf(kind reflect.Type, all *[]string) {
	switch kind.Kind() {
	case reflect.Pointer, reflect.Slice:
		namesOf(kind.Elem(), all)
	case reflect.Struct:
		for field := range kind.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
				*all = append(*all, name)
				namesOf(field.Type, all)
			}
		}
	}
}
