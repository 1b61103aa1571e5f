package incumbent

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// OnConnection of a closed selector is not called any longer, and the client does not keep
// it.
func TestAClosedSelectorLeavesNoListener(t *testing.T) {
	for name, started := range map[string]bool{"started": true, "not started": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				synctest.Wait()
				called := 0
				for range 100 {
					before := called
					s, err := n.Selector("/line", func(l *Leadership) error { <-l.Context().Done(); return nil },
						SelectorOptions{
							OnConnection: func(ConnectionState) error { called++; return nil },
						})
					if err == nil && started {
						err = s.Start()
					}
					if err != nil {
						t.Fatal(err)
					}
					if synctest.Wait(); called == before {
						t.Fatal("OnConnection of an open selector was not called: the test shows nothing")
					}
					if err := s.participant.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				if left := n.Client.session.listeners.Len(); left != 0 {
					t.Errorf("100 selectors were closed, and the client keeps %d listeners", left)
				}
				before := called
				n.cut()
				if pass(time.Minute); called != before || n.Connection() != Reconnected {
					t.Errorf("OnConnection of closed selectors was called %d times (%s)", called-before, n.Connection())
				}
			})
		})
	}
}

// writerFunc is a function as a writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// What was logged before the end of a client is written when Close returns, unless the Logger is slow: then Close
// returns a moment later.
func TestCloseWritesTheLastLines(t *testing.T) {
	for name, slow := range map[string]bool{"quick": false, "slow": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				log, goes := &sharedLog{}, make(chan struct{})
				n := w.open(func(c *Config) {
					c.Logger = zerolog.New(writerFunc(func(p []byte) (int, error) {
						virtual.Sleep(journal.LastLines / 20)
						if slow {
							<-goes
						}
						return log.Write(p)
					}))
				})
				pass(time.Second)
				n.log.Log(zerolog.InfoLevel, "the last line", nil)
				begun := time.Now()
				fine(t, n.Close(t.Context()))
				if took := time.Since(begun); took > journal.LastLines+time.Second/2 || slow &&
					took < journal.LastLines {
					t.Errorf("Close took %s", took)
				}
				if written := strings.Contains(log.String(), "the last line"); written == slow {
					t.Errorf("the last line is written: %t", written)
				}
				close(goes)
				pass(time.Second)
				n.log.Log(zerolog.InfoLevel, "behind the end", nil)
				fine(t, n.Close(t.Context()))
				if !strings.Contains(log.String(), "behind the end") {
					t.Error("a second Close does not write the last lines")
				}
			})
		})
	}
}
