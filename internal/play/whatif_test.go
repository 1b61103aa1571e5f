package play

import (
	"strings"
	"testing"
)

// TestWhatIf: without a deed nothing differs before it, and who is not touched by it does not part.
func TestWhatIf(t *testing.T) {
	const link = "1;latch;usual;3;7~8.5:freeze:alice:9~20:cut:carol@40"
	before := ask(t, new(Host), Request{Link: link})
	out := ask(t, new(Host), Request{Link: strings.Replace(link, "~8.5", "~-8.5", 1)})
	if out.Before == nil || out.Before.Digest != before.Digest || out.Digest == before.Digest {
		t.Fatalf("before: %+v", out.Before)
	}
	if len(out.Deeds) != 1 || out.Deeds[0].I != 1 || len(out.Before.Deeds) != 2 {
		t.Errorf("deeds %+v, before %+v", out.Deeds, out.Before.Deeds)
	}
	if got, want := text(t, out.Before.Document.Picture), text(t, before.Document.Picture); got != want {
		t.Errorf("the picture before is another one:\n%.2000s\nwant\n%.2000s", got, want)
	}
	for _, p := range out.Before.Parts {
		if p.At != 0 && p.At < out.Begin+8_500_000 {
			t.Errorf("%s parts before the deed: %+v", p.Name, p)
		}
	}
	if p := out.Before.Parts[0]; p.Name != "alice" || p.At == 0 || p.At > out.Begin+9_500_000 || p.Seq == 0 {
		t.Errorf("alice does not part at once: %+v", p)
	}
	added := ask(t, new(Host), Request{Link: strings.Replace(link, "~20", "~+20", 1)})
	if added.Digest != before.Digest || added.Before.Digest == before.Digest || len(added.Deeds) != 2 ||
		len(added.Before.Deeds) != 1 {
		t.Errorf("added: %s, before that %s, want %s", added.Digest, added.Before.Digest, before.Digest)
	}
	for _, p := range added.Before.Parts {
		if p.At != 0 && p.At < added.Begin+20_000_000 {
			t.Errorf("%s parts before the deed: %+v", p.Name, p)
		}
	}
	nothing := ask(t, new(Host), Request{Link: strings.Replace(link, "~20:cut:carol", "~+20:start:carol", 1)})
	for _, p := range nothing.Before.Parts {
		if p.At != 0 || nothing.Deeds[1].Done {
			t.Errorf("%s parts, although the deed did nothing: %+v", p.Name, p)
		}
	}
	later := ask(t, new(Host), Request{Link: strings.Replace(link, "@40", "@5", 1) + "", Until: nil})
	if later.Before != nil {
		t.Error("a script without marks has a world before")
	}
}
