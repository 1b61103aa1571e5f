package journal

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// certificateFiles are those of a certificate that ends at this time. They are read again so often.
type certificateFiles struct {
	end   time.Time
	reads int
}

func (f *certificateFiles) ReadCertificate() { f.reads++ }

func (f *certificateFiles) Certificate() (name string, notAfter time.Time) { return "CN=ann", f.end }

// A certificate that ends soon is said at a new connection, but not twice in an hour, and once a day. That it has ended
// is said at once.
func TestTheEndOfACertificateIsLogged(t *testing.T) {
	virtual.Within(t, 48*time.Hour, func(t *testing.T) {
		var out bytes.Buffer
		closed := make(chan struct{})
		files := &certificateFiles{}
		c := Certificate{Log: New(zerolog.New(&out), ""), IO: files, Closed: closed}
		said := func(text string) int {
			synctest.Wait()
			return strings.Count(out.String(), text)
		}
		c.Connected()
		files.end = time.Now().Add(certificateWarning + time.Minute)
		if c.Connected(); said("certificate") != 0 {
			t.Errorf("said too early: %s", &out)
		}
		files.end = time.Now().Add(36 * time.Hour)
		c.Connected()
		virtual.Sleep(certificatePause - 1)
		if c.Connected(); said("ends soon") != 1 {
			t.Errorf("within an hour: %s", &out)
		}
		virtual.Sleep(1)
		if c.Connected(); said("ends soon") != 2 || said(`"days":1.4`) != 1 {
			t.Errorf("an hour later: %s", &out)
		}
		go c.Watch()
		virtual.Sleep(25 * time.Hour)
		if said("ends soon") != 3 || files.reads != 25 {
			t.Errorf("a day later: %s, after %d reads", &out, files.reads)
		}
		files.end = time.Now()
		if c.Connected(); said("has ended") != 1 {
			t.Errorf("at its end: %s", &out)
		}
		close(closed)
		synctest.Wait()
	})
}
