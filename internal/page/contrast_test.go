package page

import (
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// leastContrast is what WCAG asks of text: level AA.
const leastContrast = 4.5

var (
	variable = regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`)
	// texts are the colours of text, and what they are written on.
	texts = map[string][]string{
		"ink":  {"paper", "card", "select", "odd", "grid", "nobody", "oa", "ob", "oc", "od", "oe", "of", "og", "oh"},
		"soft": {"paper", "card", "odd"}, "two-ink": {"paper", "card", "select"}, "right-text": {"card", "odd"},
		"late-ink": {"paper", "card"}, "work-ink": {"card", "select"}, "accent": {"card", "paper", "odd", "select"},
		"cause": {"card"}, "right-ink": {"right"}, "chip-ink": {"chip"}, "card": {"two-ink", "work-ink", "late-ink"},
		"ghost": {"card"}, "deed": {"card", "paper"},
	}
)

// luminance is WCAG's relative luminance of a colour.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) != 6 {
		t.Fatalf("no colour: %q", colour)
	}
	n, err := strconv.ParseUint(colour, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	channel := func(shift int) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// schemes returns the colours of a style sheet on a light page and on a dark one.
func schemes(t *testing.T, css string) map[string]map[string]string {
	t.Helper()
	light, dark, found := strings.Cut(css, "prefers-color-scheme: dark")
	if !found {
		t.Fatal("there is no dark page")
	}
	all := map[string]map[string]string{}
	for name, part := range map[string]string{"light": light, "dark": dark} {
		all[name] = map[string]string{}
		for _, m := range variable.FindAllStringSubmatch(part, -1) {
			if _, known := all[name][m[1]]; !known {
				all[name][m[1]] = m[2]
			}
		}
	}
	return all
}

// Text has enough contrast on what it is written on, on a light page and on a dark one, and in the playground.
func TestContrast(t *testing.T) {
	dir, err := Modules()
	if err != nil {
		t.Fatal(err)
	}
	css, err := fs.ReadFile(dir, "style.css")
	if err != nil {
		t.Fatal(err)
	}
	play, err := os.ReadFile(filepath.Join("..", "play", "web", "assets", "play.css"))
	if err != nil {
		t.Fatal(err)
	}
	more := schemes(t, string(play))
	for name, colours := range schemes(t, string(css)) {
		maps.Copy(colours, more[name])
		for text, grounds := range texts {
			for _, ground := range grounds {
				if c := contrast(t, colours[text], colours[ground]); c < leastContrast {
					t.Errorf("on a %s page %s on %s has %.2f:1, want %.1f:1", name, text, ground, c, leastContrast)
				}
			}
		}
	}
	if c := contrast(t, "ffffff", "000000"); math.Abs(c-21) > 0.01 {
		t.Errorf("white on black has %.2f:1, want 21:1", c)
	}
}
