package page

import (
	"strings"
	"testing"
	"testing/fstest"
)

func modules(texts map[string]string) fstest.MapFS {
	dir := fstest.MapFS{}
	for name, text := range texts {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return dir
}

func TestBundle(t *testing.T) {
	dir := modules(map[string]string{
		"app.js": "// begins\nimport './types.js';\nimport { a, b } from './a.js';\nimport { c } from './c.js';\n\n" +
			"export async function start() {\n  return a + /** @type {X | b<c>} */ (b) + c; // kept\n}\n",
		"a.js": "import { c } from './c.js';\n/** One. */\nexport const a = c;\n/**\n * Two lines.\n */\nexport " +
			"class b {\n}\n",
		"c.js": "export function c() {}\n", "types.js": "/** @typedef {string} X */\nexport {};\n",
	})
	got, err := Bundle(dir, "app.js")
	want := "function c() {}\nconst a = c;\nclass b {\n}\nasync function start() {\nreturn a + (b) + c; // kept\n}\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestBundleRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"import { a as b } from './a.js';":              "want import { name } from",
		"import a from './a.js';":                       "want import { name } from",
		"import { a } from '../a.js';":                  "want import { name } from",
		"import { a } from './lost.js';":                "lost.js: file does not exist",
		"export default 1;":                             "want export before function",
		"export { a };":                                 "want export before function",
		"const [a, b] = [1, 2];":                        "one name in each declaration",
		"/** @type {X} */ (x).y = 1;":                   "want nothing behind a comment",
		"/** never\nends":                               "a comment without an end",
		"import { x } from './a.js';\nconst x = 1;":     "x is declared in a.js, too",
		"import { x } from './round.js';\nconst y = 1;": "modules import each other: app.js, round.js, app.js",
	} {
		got, err := Bundle(modules(map[string]string{"app.js": text, "a.js": "export const x = 1;",
			"round.js": "import { y } from './app.js';"}), "app.js")
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q\n%s", text, err, says, got)
		}
	}
}
