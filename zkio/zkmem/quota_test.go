package zkmem

import "testing"

// The nearest quota above a change counts it, from what was there when its statistics node was created.
func TestQuotasCount(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	create := func(path, data string) {
		t.Helper()
		if _, err := s.Create(path, []byte(data), Persistent); err != nil {
			t.Fatal(err)
		}
	}
	create("/a", "12")
	create("/a/b", "345")
	for _, path := range []string{"/a", "/a/b"} {
		create("/zookeeper/quota"+path, "")
		create("/zookeeper/quota"+path+"/zookeeper_limits", "count=1,bytes=1")
		create("/zookeeper/quota"+path+"/zookeeper_stats", "")
	}
	want := func(outer, inner string) {
		t.Helper()
		for path, want := range map[string]string{"/a": outer, "/a/b": inner} {
			got, stat, err := s.Snapshot().Get("/zookeeper/quota" + path + "/zookeeper_stats")
			if err != nil || string(got) != want || stat.Version != 0 {
				t.Errorf("%s: %s, version %d, %v; want %s", path, got, stat.Version, err, want)
			}
		}
	}
	want("count=2,bytes=5", "count=1,bytes=3")
	create("/a/c", "6")
	create("/a/b/d", "78")
	create("/ab", "9")
	want("count=3,bytes=6", "count=2,bytes=5")
	if err := s.Set("/a/c", []byte("wxyz")); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete("/a/b/d"); err != nil {
		t.Fatal(err)
	}
	want("count=3,bytes=9", "count=1,bytes=3")
	if err := s.Delete("/zookeeper/quota/a/b/zookeeper_limits"); err != nil {
		t.Fatal(err)
	}
	create("/a/b/e", "0") // counts for /a now
	want("count=4,bytes=10", "count=1,bytes=3")
}
