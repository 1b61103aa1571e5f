//go:build unix

package suites

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// hubVariable is the environment variable that holds the hub's address. A test binary that finds it stands in for java.
const hubVariable = "INCUMBENT_SUITES_HUB"

// opening is the first line of a connection to the hub, as JSON: a server starts, or a client has connected to the server at a port.
type opening struct {
	Server *config
	Client string
}

// served is the hub's answer to a server that starts.
const served = "served\n"

// beServer does what a suite's harness starts java for, as far as the harness can see: clients that connect to clientPort are served,
// by the hub, until this process is killed. It returns if that cannot be, or when the hub ends.
func beServer(hub string, args []string) error {
	c, err := readConfig(args)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", c.Port))
	if err != nil {
		return err
	}
	defer l.Close()
	conn, err := dialHub(hub, opening{Server: &c})
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || line != served {
		return fmt.Errorf("the hub does not serve port %s: %s (%v)", c.Port, strings.TrimSpace(line), err)
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go passOn(client, hub, c.Port)
		}
	}()
	_, _ = answers.ReadByte() // nothing more comes
	return errors.New("the hub has ended")
}

func dialHub(hub string, o opening) (net.Conn, error) {
	conn, err := net.Dial("tcp", hub)
	if err != nil {
		return nil, fmt.Errorf("the hub cannot be reached: %w", err)
	}
	if err := json.NewEncoder(conn).Encode(o); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// passOn passes bytes between a client and the hub until one of them closes its connection.
func passOn(client net.Conn, hub, port string) {
	defer client.Close()
	server, err := dialHub(hub, opening{Client: port})
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		server.Close()
	}()
	_, _ = io.Copy(client, server)
}
