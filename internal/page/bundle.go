package page

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed assets/*.js assets/style.css assets/shell.html
var assets embed.FS

var (
	importLine  = regexp.MustCompile(`^import (?:\{ \w+(?:, \w+)* \} from )?'(\./[\w.]+\.js)';$`)
	exported    = regexp.MustCompile(`^export ((?:async )?(?:function|const|class) )`)
	declared    = regexp.MustCompile(`^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+)`)
	typed       = regexp.MustCompile(`/\*\* @type \{[^{}*]*\} \*/ `) // within a line
	destructure = regexp.MustCompile(`^(?:export )?(?:const|let) [\[{]`)
)

// bundler puts modules into one script, each after those that it imports. It takes the small part
// of the language that the page's modules keep to, and refuses the rest: imports of names at the
// beginning of a line, one export before each declaration, and no top-level name twice.
type bundler struct {
	dir   fs.FS
	done  map[string]bool
	doing []string
	names map[string]string // a top-level name, and its module
	out   strings.Builder
}

// Bundle returns the modules that entry imports, and entry itself, as one script without comments.
// The same modules always give the same script.
func Bundle(dir fs.FS, entry string) (string, error) {
	b := &bundler{dir: dir, done: map[string]bool{}, names: map[string]string{}}
	if err := b.add(entry); err != nil {
		return "", err
	}
	return b.out.String(), nil
}

func (b *bundler) add(name string) error {
	if b.done[name] {
		return nil
	}
	if slices.Contains(b.doing, name) {
		return fmt.Errorf("page: modules import each other: %s", strings.Join(append(b.doing, name), ", "))
	}
	b.doing = append(b.doing, name)
	text, err := fs.ReadFile(b.dir, name)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	lines := strings.Split(string(text), "\n")
	for _, line := range lines {
		if m := importLine.FindStringSubmatch(line); m != nil {
			if err := b.add(path.Clean(m[1])); err != nil {
				return err
			}
		}
	}
	b.doing = b.doing[:len(b.doing)-1]
	b.done[name] = true
	return b.write(name, lines)
}

// write appends a module without imports, exports, comments, types and indentation.
func (b *bundler) write(name string, lines []string) error {
	comment := false
	for i, line := range lines {
		at := fmt.Sprintf("page: %s:%d: ", name, i+1)
		bare := strings.TrimSpace(line)
		switch {
		case comment:
			comment = !strings.HasSuffix(bare, "*/")
			continue
		case strings.HasPrefix(bare, "/**") && strings.Contains(bare, "*/") && !strings.HasSuffix(bare, "*/"):
			return fmt.Errorf("%swant nothing behind a comment that begins a line, not %q", at, line)
		case strings.HasPrefix(bare, "/**"):
			comment = !strings.HasSuffix(bare, "*/")
			continue
		case bare == "", strings.HasPrefix(bare, "//"), importLine.MatchString(line), bare == "export {};":
			continue
		case strings.HasPrefix(line, "import "):
			return fmt.Errorf("%swant import { name } from './module.js'; not %q", at, line)
		case destructure.MatchString(line):
			return fmt.Errorf("%sone name in each declaration at the top, not %q", at, line)
		}
		if m := declared.FindStringSubmatch(line); m != nil {
			if other, taken := b.names[m[1]]; taken {
				return fmt.Errorf("%s%s is declared in %s, too", at, m[1], other)
			}
			b.names[m[1]] = name
		}
		if strings.HasPrefix(line, "export ") && !exported.MatchString(line) {
			return fmt.Errorf("%swant export before function, const or class, not %q", at, line)
		}
		b.out.WriteString(exported.ReplaceAllString(typed.ReplaceAllString(bare, ""), "$1") + "\n")
	}
	if comment {
		return fmt.Errorf("page: %s has a comment without an end", name)
	}
	return nil
}
