package events

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Each effect of the package has an object in a log, that its own method writes, and a reader of it.
func TestEachEffectHasAnObject(t *testing.T) {
	words, err := os.ReadFile("effect_form.go")
	if err != nil {
		t.Fatal(err)
	}
	var objects []byte
	for _, file := range []string{"effect_json.go", "effect_others.go"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, b...)
	}
	all := regexp.MustCompile(`func \(e (\w+)\) AppendTo\(`).FindAllSubmatch(words, -1)
	for _, one := range all {
		if !strings.Contains(string(objects), "func (e "+string(one[1])+") appendJSON(") {
			t.Errorf("%s has no appendJSON", one[1])
		}
	}
	if len(all) != len(effectKinds) || len(all) < 19 {
		t.Errorf("%d effects have words, and %d are read", len(all), len(effectKinds))
	}
}
