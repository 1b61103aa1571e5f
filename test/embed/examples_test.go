package embed

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/realzk"
)

// The programs to copy are a module of their own, with what they need besides:
// they are vetted and tested there, against this checkout.
func TestTheProgramsToCopy(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("..", "..", "docs", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := try(t, dir, "go", "mod", "download"); err != nil {
		realzk.NotRun(t, "the programs to copy (their modules cannot be fetched)")
	}
	if said, err := try(t, dir, "go", "vet", "./..."); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	said, err := try(t, dir, "go", "test", "-count=1", "./...")
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, program := range []string{"scheduler", "shards"} {
		if !strings.Contains(said, "ok  \tgithub.com/incumbent-go/incumbent/docs/examples/"+program) {
			t.Errorf("%s was not tested:\n%s", program, said)
		}
	}
}
