package mutants

import "testing"

func TestEditsWithinEditsAreMadeOnce(t *testing.T) {
	around := func(from, to int, before, after string) edit {
		return edit{from, to, true, func(text string, _ func(int, int) string) string { return before + text + after }}
	}
	text := []byte("if a < b && c { d() }")
	edits := []edit{
		around(14, 14, "", "[early]"),
		around(3, 8, "(", ")"),
		{3, 8, false, func(_ string, part func(int, int) string) string { return part(3, 4) + " <= " + part(7, 8) }},
		around(3, 4, "A(", ")"),
		around(3, 13, "!(", ")"),
		around(16, 19, "", ";"),
	}
	const want = "if !((A(a) <= b) && c) [early]{ d(); }"
	if got := render(text, edits); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := render(text, nil); got != string(text) {
		t.Errorf("%s without edits", got)
	}
}
