package house

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

// maxWords is how long the pages for newcomers may be.
var maxWords = map[string]int{"README.md": 1000, "ARCHITECTURE.md": 2000, "CONTRIBUTING.md": 1400}

// pages returns every markdown page of the checkout, by its path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := walk(func(path_, text string) error {
		if strings.HasSuffix(path_, ".md") {
			all[path_] = strings.ReplaceAll(text, "\r\n", "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A newcomer reads three pages to the end. What is longer belongs in docs.
func TestThePagesForNewcomersAreShort(t *testing.T) {
	all := pages(t)
	for _, name := range slices.Sorted(maps.Keys(maxWords)) {
		if words := len(strings.Fields(all[name])); words == 0 || words > maxWords[name] {
			t.Errorf("%s has %d words, of %d\n\twhy not: a long page is not read: move the detail to a page in docs",
				name, words, maxWords[name])
		}
	}
}

// maxPages and maxPageWords bound the pages in docs, without those that lie in its folders. They only fall: a
// change that shortens the pages lowers them.
const maxPages, maxPageWords = 20, 45_000

// docsFaults returns what is wrong with the number of pages in docs and of their words.
func docsFaults(all map[string]string, maxPages, maxWords int) (wrong []string) {
	pages, words := 0, 0
	for name, text := range all {
		if path.Dir(name) == "docs" {
			pages, words = pages+1, words+len(strings.Fields(text))
		}
	}
	if pages > maxPages {
		wrong = append(wrong, fmt.Sprintf("docs has %d pages, of %d", pages, maxPages))
	}
	if words > maxWords {
		wrong = append(wrong, fmt.Sprintf("the pages in docs have %d words, of %d", words, maxWords))
	}
	return wrong
}

// Nobody finds a fact on forty pages.
func TestThePagesInDocsDoNotGrow(t *testing.T) {
	for _, wrong := range docsFaults(pages(t), maxPages, maxPageWords) {
		t.Errorf("%s\n\twhy not: nobody finds a fact in a book: shorten the page that you add to, or another", wrong)
	}
	breach := map[string]string{"docs/a.md": "one two", "docs/b.md": "three", "docs/api/c.md": "four", "d.md": "five"}
	want := []string{"docs has 2 pages, of 1", "the pages in docs have 3 words, of 2"}
	if got := docsFaults(breach, 1, 2); !slices.Equal(got, want) {
		t.Errorf("found %q in the breach, want %q", got, want)
	}
	if got := docsFaults(breach, 2, 3); got != nil {
		t.Errorf("found %q in what is within the bounds", got)
	}
}

// The front page has what nobody may have to search for.
func TestTheReadmeHasWhatComesFirst(t *testing.T) {
	readme := pages(t)["README.md"]
	for _, part := range []string{
		"not published yet", "\nreplace " + module + " => ../incumbent\n",
		"\ngo run ./cmd/demo ", "\nmake test ", "go run ./cmd/incumbent play ",
		"](docs/promises.md)", "](docs/recipes.md)", "](docs/README.md)", "\n## Limits\n",
	} {
		if !strings.Contains(readme, part) {
			t.Errorf("README.md does not have %q", part)
		}
	}
}

// docs/README.md is the index: a page that it does not name is not found.
func TestTheIndexNamesEveryPage(t *testing.T) {
	all := pages(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		page, is := strings.CutPrefix(name, "docs/")
		if is && !strings.Contains(page, "/") && page != "README.md" &&
			!strings.Contains(all["docs/README.md"], "]("+page+")") {
			t.Errorf("docs/README.md does not link to %s\n\twhy not: a page that is not in the index is not found",
				page)
		}
	}
}

// docs/recipes.md lists what users can make, and README.md what there is.
func TestEveryRecipeIsListed(t *testing.T) {
	all := pages(t)
	for _, r := range machines.Recipes() {
		if r.Name() != "session" &&
			!regexp.MustCompile(`\]\(statecharts/`+r.Name()+`\.md\)`).MatchString(all["docs/recipes.md"]) {
			t.Errorf("docs/recipes.md does not link to the chart of %s", r.Name())
		}
	}
}

// unplain are words that a page does without: each has a plainer one, or hides who does what.
var unplain = regexp.MustCompile(`(?i)\b(whoever|whom|beside|anew|in vain|all the same|for all that|for ever|told)\b`)

// plainless returns the lines of a page that have such a word outside of code.
func plainless(text string) (found []string) {
	for _, line := range strings.Split(spans.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), "\n") {
		for _, word := range unplain.FindAllString(line, -1) {
			found = append(found, fmt.Sprintf("%q in %q", word, line))
		}
	}
	return found
}

// The pages are in plain words. Those that are generated, and the histories, have no such rule.
func TestPagesAreInPlainWords(t *testing.T) {
	for name, text := range pages(t) {
		if dir := path.Dir(name); dir != "." && dir != "docs" {
			continue
		}
		for _, word := range plainless(text) {
			t.Errorf("%s: %s\n\twhy not: readers who know Go and ZooKeeper have to look it up: name who does what",
				name, word)
		}
	}
	breach := "Whoever is\ntold, in `told`\n```\nfor ever\n```\nbesides"
	if got := plainless(breach); len(got) != 2 {
		t.Errorf("found %q in the breach, instead of two words", got)
	}
}

// traced is where the happy path of ARCHITECTURE.md is from.
const traced = "machines/testdata/latch/first_in_line"

// strayLines returns the lines of text that do not follow each other in a golden trace, whatever their indent.
func strayLines(text, trace string) (stray []string) {
	rest := strings.Split(trace, "\n")
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		same := func(other string) bool { return strings.TrimSpace(other) == strings.TrimSpace(line) }
		if at := slices.IndexFunc(rest, same); at >= 0 {
			rest = rest[at+1:]
		} else {
			stray = append(stray, line)
		}
	}
	return stray
}

// The happy path that a newcomer reads first is the one that the machine takes.
func TestTheHappyPathIsATrace(t *testing.T) {
	trace, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(traced)))
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(pages(t)["ARCHITECTURE.md"], "]("+traced+")")
	_, block, _ := strings.Cut(page, "\n```\n")
	block, _, _ = strings.Cut(block, "\n```\n")
	if lines := strings.Count(block, "\n") + 1; lines < 10 || lines > 30 {
		t.Errorf("the happy path has %d lines, want 10 to 30: one screen", lines)
	}
	for _, line := range strayLines(block, strings.ReplaceAll(string(trace), "\r\n", "\n")) {
		t.Errorf("ARCHITECTURE.md has %q, which %s does not have there", line, traced)
	}
	if got := strayLines("b\n  a", "a\n\tb\n"); !slices.Equal(got, []string{"  a"}) {
		t.Errorf("found %q in the breach", got)
	}
}

var (
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	spans    = regexp.MustCompile("`[^`\n]*`")
	pageLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	unslug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns the names that GitHub gives to a page's headings.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		title := regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		slug := strings.ReplaceAll(unslug.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		for name, n := slug, 1; ; n++ {
			if !found[name] {
				found[name] = true
				break
			}
			name = fmt.Sprintf("%s-%d", slug, n)
		}
	}
	return found
}

// deadLinks returns the relative links of a page that lead to no file or heading.
func deadLinks(name string, all map[string]string, exists func(string) bool) (dead []string) {
	text := spans.ReplaceAllString(fenced.ReplaceAllString(all[name], ""), "")
	for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
			continue
		}
		file, anchor, deep := strings.Cut(m[1], "#")
		target := name
		if file != "" {
			target = path.Join(path.Dir(name), file)
		}
		if !exists(target) || deep && !anchors(all[target])[anchor] {
			dead = append(dead, m[1])
		}
	}
	return dead
}

// Every relative link leads to a file, and its anchor to a heading there.
func TestLinksLeadSomewhere(t *testing.T) {
	all := pages(t)
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil
	}
	links := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		links += len(pageLink.FindAllString(all[name], -1))
		for _, link := range deadLinks(name, all, there) {
			t.Errorf("%s: the link %s leads nowhere", name, link)
		}
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
	breach := map[string]string{
		"a.md": "# A\n[b](d/b.md#two--three) [c](d/c.md) [d](#none) [e](https://x.org/y) `[f](f.md)`\n```\n" +
			"[g](g.md)\n# no heading\n```\n[h](#no-heading)",
		"d/b.md": "## Two & `three`\n[a](../a.md#a) [up](b.md#two--three-1)\n## Two & three\n[a](a.md)",
	}
	known := func(name string) bool { return breach[name] != "" }
	got := append(deadLinks("a.md", breach, known), deadLinks("d/b.md", breach, known)...)
	if want := []string{"d/c.md", "#none", "#no-heading", "a.md"}; !slices.Equal(got, want) {
		t.Errorf("the dead links are %q\nwant               %q", got, want)
	}
}
