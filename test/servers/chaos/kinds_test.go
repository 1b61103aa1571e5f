package chaos

import "testing"

// Every line has a word, and directories, of its own: -only finds it by the word.
func TestEveryLineHasItsWord(t *testing.T) {
	taken := map[string]kind{}
	for _, k := range everybody {
		if found, ok := kindOf(k.word()); !ok || found != k {
			t.Errorf("%s is found as %q under %q", k, found, k.word())
		}
		for _, dir := range append(k.dirs(), k.written()) {
			if other, there := taken[dir]; there {
				t.Errorf("%s and %s share %s", k, other, dir)
			}
			taken[dir] = k
		}
	}
	if k, ok := kindOf("nobody"); ok {
		t.Errorf("nobody is %s", k)
	}
}
