package wire

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

var (
	search = flag.Bool("plants", false, "search for the plants, up to -most worlds each, and write the table")
	most   = flag.Int("most", 400, "how many worlds to search for one plant")
	only   = flag.String("only", "", "search for those whose names this expression matches")
)

const (
	table = "testdata/plants.tsv"
	// plantVariable switches a plant on.
	plantVariable = "INCUMBENT_WIRE_PLANT"
	// inPackage is added to each package that a plant changes.
	inPackage = "package %s\n\nimport (\n\t\"os\"\n\t\"time\"\n)\n\nvar plantedLater = time.AfterFunc\n\nvar " +
		"plantedBug = os.Getenv(%q)\n\nfunc planted(name string) bool { return plantedBug == name }\n"
)

// found is a plant, a world that finds it, and the check that fails there.
type found struct {
	plant string
	seed  int
	check string
}

// TestPlants builds the product with all its plants, and plays the recorded world of each: it fails with the plant, and
// passes without.
func TestPlants(t *testing.T) {
	known := readTable(t)
	if *search {
		known = searchAll(t, wanted(t), known)
		writeTable(t, known)
		return
	}
	binary := ""
	for _, p := range selection.Some(t, "plants", 0, 0, plants) {
		if binary == "" {
			binary = buildPlanted(t)
		}
		t.Run(p.name, func(t *testing.T) {
			f, recorded := known[p.name]
			if !recorded {
				t.Fatalf("no world finds this plant: make wire-plants searches for one")
			}
			if broken := p.play(t, binary, "", f.seed); len(broken) > 0 {
				t.Errorf("world %d breaks %q without the plant", f.seed, broken)
			}
			if instead, isFound := p.findsAgain(t, binary, f); !isFound {
				t.Errorf("neither world %d nor those from 1 to %d break %q any longer; they break %q", f.seed, others,
					f.check, instead)
			}
		})
	}
}

// others is in how many worlds a plant is searched for if its own does not find it.
const others = 600

// again is how often the own world is played before that. The rarest order was seen in 7 of 30 runs.
const again = 40

// findsAgain reports whether a plant breaks the check of the table again: in its own world, or else in another.
// Goroutines of one instant run in any order, so a plant that needs a rare order is not found in each run of its
// world. Instead has the other checks that worlds with the plant broke; they do not count.
func (p plant) findsAgain(t *testing.T, binary string, f found) (instead []string, isFound bool) {
	worlds := slices.Repeat([]int{f.seed}, again)
	for other := range others {
		worlds = append(worlds, other+1)
	}
	for _, seed := range worlds {
		broken := p.play(t, binary, p.name, seed)
		if slices.Contains(broken, f.check) {
			if seed != f.seed {
				t.Logf("found in world %d, and not in world %d", seed, f.seed)
			}
			return nil, true
		}
		for _, check := range broken {
			if !slices.Contains(instead, check) {
				instead = append(instead, check)
			}
		}
	}
	return instead, false
}

// wanted returns the plants that -only names.
func wanted(t *testing.T) (some []plant) {
	t.Helper()
	expr, err := regexp.Compile(*only)
	if err != nil {
		t.Fatalf("-only: %v", err)
	}
	for _, p := range plants {
		if expr.MatchString(p.name) {
			some = append(some, p)
		}
	}
	if len(some) == 0 {
		t.Fatalf("-only %q matches no name in %s", *only, table)
	}
	return some
}

// searchAll searches for some plants.
func searchAll(t *testing.T, some []plant, known map[string]found) map[string]found {
	t.Helper()
	binary := buildPlanted(t)
	for _, p := range some {
		delete(known, p.name)
		step := 1
		if p.records {
			step = recordsEvery
		}
		for seed := 1; seed <= *most*step; seed += step {
			broken := p.play(t, binary, p.name, seed)
			if len(broken) == 0 || broken[0] == noCheck || len(p.play(t, binary, "", seed)) > 0 {
				continue
			}
			known[p.name] = found{p.name, seed, broken[0]}
			fmt.Fprintf(os.Stderr, "%s: world %d, %q\n", p.name, seed, broken[0])
			break
		}
		if _, ok := known[p.name]; !ok {
			t.Errorf("%s: not found in %d worlds", p.name, *most)
		}
	}
	return known
}

var (
	breaks    = regexp.MustCompile(`seed \d+ breaks ("[^"]*")`)
	invariant = regexp.MustCompile(`(?m)^panic: .*broken invariant`)
)

const (
	// invariantHolds stands for a world that ended because an invariant of the product did not hold.
	invariantHolds = "an invariant holds"
	// noCheck stands for a world that ended otherwise, and broke no check before. It finds no plant.
	noCheck = "no check: the process failed"
)

// play plays a world in a process of its own, with the plant whose name is given, and returns the checks that fail, the
// first one first.
func (p plant) play(t *testing.T, binary, name string, seed int) (checks []string) {
	t.Helper()
	limit := "1m"
	if name != "" {
		limit = "6s" // some plants make a client repeat a request without end, in one instant of the virtual time
	}
	cmd := exec.Command(binary, "-test.run=^TestWorlds$", "-test.timeout="+limit, "-seed", strconv.Itoa(seed),
		"-login="+strconv.FormatBool(p.login))
	cmd.Env = append(os.Environ(), plantVariable+"="+name)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	for _, m := range breaks.FindAllSubmatch(out, -1) {
		checks = append(checks, strings.Trim(string(m[1]), `"`))
	}
	switch {
	case len(checks) > 0:
		return checks
	case invariant.Match(out):
		return []string{invariantHolds}
	}
	t.Logf("world %d with the plant %q: %v\n%s", seed, name, err, out)
	return []string{noCheck}
}

// buildPlanted builds this package's tests with all plants in the product.
func buildPlanted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, p := range plants {
		text[p.file] = p.edit(t, root, text[p.file])
	}
	replace := map[string]string{}
	add := func(path, content string) {
		to := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(to, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, filepath.FromSlash(path))] = to
	}
	packages := map[string]bool{}
	for file, content := range text {
		add(file, content)
		pkg := filepath.ToSlash(filepath.Dir(file))
		if !packages[pkg] {
			packages[pkg] = true
			add(pkg+"/planted_bug.go", fmt.Sprintf(inPackage, strings.Replace(path.Base(pkg), ".", "incumbent", 1),
				plantVariable))
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "planted.test")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "test", "-c", "-overlay", file, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// source returns the file of a plant, which has the text that the plant replaces.
func (p plant) source(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.file)))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(p.old)); n != 1 {
		t.Errorf("%s: the text that the plant %q replaces occurs %d times: change the plant with the source\n%s",
			p.file, p.name, n, p.old)
	}
	return string(text)
}

// TestPlantsFitTheSource names each plant that a change of the source has left behind.
func TestPlantsFitTheSource(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	for _, p := range plants {
		p.source(t, root)
	}
}

// edit returns a file's text with the plant in it.
func (p plant) edit(t *testing.T, root, text string) string {
	t.Helper()
	if text == "" {
		text = p.source(t, root)
	}
	if strings.Count(text, p.old) != 1 {
		t.Fatalf("%s: the plant %q is where another is", p.file, p.name)
	}
	return strings.Replace(text, p.old, strings.ReplaceAll(p.new, "…", strconv.Quote(p.name)), 1)
}

func readTable(t *testing.T) map[string]found {
	t.Helper()
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]found{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) != 3 {
			t.Fatalf("%s: not three cells: %q", table, line)
		}
		seed, err := strconv.Atoi(cells[1])
		if err != nil {
			t.Fatal(err)
		}
		known[cells[0]] = found{cells[0], seed, cells[2]}
	}
	return known
}

func writeTable(t *testing.T, known map[string]found) {
	t.Helper()
	var b strings.Builder
	for _, p := range plants {
		if f, ok := known[p.name]; ok {
			fmt.Fprintf(&b, "%s\t%d\t%s\n", f.plant, f.seed, f.check)
		}
	}
	if err := os.WriteFile(table, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
