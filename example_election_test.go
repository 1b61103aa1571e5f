package incumbent_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Five participants, each with a client of its own as in five processes, lead one after
// another. The server's list of watches shows which participant watched which.
func ExampleElection() {
	srv := zkmem.New(zkmem.Options{})
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx := context.Background()
	var candidates []*incumbent.Election
	for i, id := range []string{"a", "b", "c", "d", "e"} {
		client := open(ctx, srv.Addr())
		defer client.Close(ctx)
		candidate, err := client.Election("/election", "n_", incumbent.LatchOptions{ID: id})
		if err != nil {
			panic(err)
		}
		if err := candidate.Start(); err != nil {
			panic(err)
		}
		candidates = append(candidates, candidate)
		// In line, and watching: every participant watches its own node and the one before.
		armed := func(v *zkmem.View) bool { return v.WatchCount() == 2*i+1 }
		if err := srv.WaitFor(ctx, armed); err != nil {
			panic(err)
		}
	}
	for _, candidate := range candidates {
		leadership, err := candidate.Await(ctx)
		if err != nil {
			panic(err)
		}
		line, _ := candidate.Participants(ctx)
		node := strings.TrimPrefix(leadership.Term().Path, "/election/")
		fmt.Printf("%s leads with %s, watched by [%s]\n", candidate.ID(), node, watchers(srv.Addr(), line))
		leadership.Release()
		_ = candidate.Close(ctx)
	}
	// Output:
	// a leads with n_0000000000, watched by [b]
	// b leads with n_0000000001, watched by [c]
	// c leads with n_0000000002, watched by [d]
	// d leads with n_0000000003, watched by [e]
	// e leads with n_0000000004, watched by []
}

// watchers asks the server which participants watch the leader's node, apart from its
// owner: "wchp" answers with paths, and below each the sessions that watch it.
func watchers(server string, line []incumbent.Participant) string {
	conn, err := net.Dial("tcp", server)
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "wchp")
	text, _ := io.ReadAll(conn)
	_, after, _ := strings.Cut(string(text), line[0].Path+"\n")
	var ids []string
	for session := range strings.Lines(after) {
		if !strings.HasPrefix(session, "\t") {
			break // the next path
		}
		for _, p := range line[1:] {
			if strings.TrimSpace(session) == fmt.Sprintf("0x%x", p.Owner) {
				ids = append(ids, p.ID)
			}
		}
	}
	return strings.Join(ids, " ")
}
