package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	writeTimeout = 30 * time.Second // of one message to a page that does not read
	keepAlive    = 15 * time.Second // how often a page that has everything gets a comment
)

// stream sends what is recorded from now on, as server-sent events: "document" has new records and the picture,
// "trouble" why there is none, "unread" which files of the directory are not shown. The id of an event is what the page
// has then, so a browser that connects again goes on there.
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		http.Error(w, "another site may not ask", http.StatusForbidden)
		return
	}
	text := r.URL.Query().Get("have")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		text = last
	}
	has, err := readHave(text)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !s.enter(w, s.streams) {
		return
	}
	defer func() { <-s.streams }()
	w.Header().Set("Content-Type", "text/event-stream")
	f := &feed{server: s, w: w, control: http.NewResponseController(w), has: has, charts: map[string]bool{}}
	if r.Method == http.MethodGet && f.send("retry: 2000\n\n") {
		f.run(r)
	}
}

// feed is one open page.
type feed struct {
	*server
	w       http.ResponseWriter
	control *http.ResponseController
	has     have
	charts  map[string]bool // which the page has
	trouble string
	unread  string
	edited  int // the edition that the page has
}

func (f *feed) run(r *http.Request) {
	poll := time.NewTicker(f.options.Poll)
	defer poll.Stop()
	last := time.Now()
	for {
		message := f.next()
		if message == "" && time.Since(last) > keepAlive {
			message = ": nothing new\n\n"
		}
		if message != "" {
			if !f.send(message) {
				return
			}
			last = time.Now()
		}
		select {
		case <-r.Context().Done():
			return
		case <-poll.C:
		}
	}
}

// send writes a message, and reports whether the page is still there.
func (f *feed) send(message string) bool {
	_ = f.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer has one
	if _, err := f.w.Write([]byte(message)); err != nil {
		return false
	}
	return f.control.Flush() == nil
}

// next returns the next message, "" for none.
func (f *feed) next() string {
	e, err := f.logs.document(f.has, f.edited)
	switch {
	case err != nil && err.Error() == f.trouble, err == nil && e == nil:
		return ""
	case err != nil:
		f.trouble, f.edited = err.Error(), 0 // it gets a document when the trouble is over
		return message("trouble", f.has, f.trouble)
	}
	f.has, f.edited, f.trouble = e.has, e.number, ""
	for name := range e.doc.Charts {
		if f.charts[name] {
			delete(e.doc.Charts, name)
		}
		f.charts[name] = true
	}
	return message("document", f.has, e.doc) + f.damage(e) + f.others(e)
}

// others says which files are not read, "" if the page has that.
func (f *feed) others(e *edition) string {
	if e.unread == f.unread {
		return ""
	}
	f.unread = e.unread
	return message("unread", f.has, e.unread)
}

// damage says what is wrong with single logs, "" if nothing is: the others are shown.
func (f *feed) damage(e *edition) string {
	if e.damage == "" {
		return ""
	}
	return message("trouble", f.has, e.damage)
}

// message returns an event with a value as JSON, which has no line break.
func message(name string, id have, value any) string {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(value); err != nil {
		return ""
	}
	return fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n", id, name, b.String())
}

// String returns what a page has, as readHave reads it.
func (h have) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		all = append(all, url.QueryEscape(name)+"."+strconv.FormatUint(h[name], 10))
	}
	return strings.Join(all, ",")
}

// readHave reads what a page has: "host1.43,host2.7".
func readHave(text string) (have, error) {
	h := have{}
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		dot := strings.LastIndexByte(part, '.')
		name, err := url.QueryUnescape(part[:max(dot, 0)])
		if err != nil || name == "" {
			return nil, fmt.Errorf("have=%s: want the last record of each log, as in host1.43,host2.7", cut(text))
		}
		if h[name], err = strconv.ParseUint(part[dot+1:], 10, 63); err != nil {
			return nil, fmt.Errorf("have=%s: want the last record of each log, as in host1.43,host2.7", cut(text))
		}
	}
	return h, nil
}
