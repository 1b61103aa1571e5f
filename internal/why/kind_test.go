package why

import "testing"

// Names of one line are of one kind, from whichever library they are.
func TestTheKindOfAName(t *testing.T) {
	for name, want := range map[string]string{
		"n_0000000007":  "n_",
		"n_-000000007":  "n_",
		"n_-2147483648": "n_",
		"_c_0f1e2d3c4b5a49888776655443322110-n_0000000007":     "n_",
		"_c_0F1E2D3C4B5A49888776655443322110-n_0000000007":     "n_",
		"_c_0f1e2d3c-4b5a-4988-8776-655443322110-n_0000000007": "n_",
		"0000000007": "",
		"_c_0f1e2d3c4b5a49888776655443322110-0000000007": "",
		"shard-10000000007": "shard-1",
		"_c_0f1e2d3c4b5a49888776655443322110-lock-0000000007":      "lock lock-",
		"_c_0f1e2d3c-4b5a-4988-8776-655443322110-latch-0000000007": "latch latch-",
		"0f1e2d3c4b5a49888776655443322110__lock__0000000007":       "kazoo __lock__",
		"0f1e2d3c4b5a49888776655443322110__party__0000000007":      "__party__",
		"_c_short": "_c_short",
	} {
		if kind, _ := kindOf(name); kind != want {
			t.Errorf("%s is of kind %q, want %q", name, kind, want)
		}
	}
}
