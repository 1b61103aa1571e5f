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

// opening is the first line of a connection to the hub, as JSON: a server starts, or a client has connected to the
// server at a port.
type opening struct {
	Server *config
	Args   []string // of java, for a server whose ports the hub itself listens on
	Client string   // clientPort
	Secure bool     // the client has connected to secureClientPort
}

// served is the hub's answer to a server that starts.
const served = "served\n"

// beServer does what a suite's harness starts java for, as far as the harness can see: clients that connect to
// clientPort are served, by the hub, until this process is killed. It returns if that cannot be, or when the hub ends.
func beServer(hub string, args []string) error {
	c, err := readConfig(args)
	if err != nil {
		return err
	}
	listeners, err := c.listen()
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	if err != nil {
		return err
	}
	conn, err := dialHub(hub, opening{Server: &c})
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || line != served {
		return fmt.Errorf("the hub does not serve port %s: %s (%v)", c.Port, strings.TrimSpace(line), err)
	}
	for i, l := range listeners {
		go func() {
			for {
				client, err := l.Accept()
				if err != nil {
					return
				}
				go passOn(client, hub, opening{Client: c.Port, Secure: i > 0})
			}
		}()
	}
	_, _ = answers.ReadByte() // nothing more comes
	return errors.New("the hub has ended")
}

// listen listens on clientPort, and behind that on secureClientPort if there is one.
func (c config) listen() (listeners []net.Listener, err error) {
	for _, port := range []string{c.Port, c.SecurePort} {
		if port == "" {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			return listeners, err
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
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
func passOn(client net.Conn, hub string, o opening) {
	defer client.Close()
	server, err := dialHub(hub, o)
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
