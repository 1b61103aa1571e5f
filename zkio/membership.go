package zkio

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Follow takes the ensemble's committed configuration, the data of Config.Unrooted: the servers that they name are
// tried in place of those that they do not name, as soon as one of them has served a connection. Those of
// Config.Servers stay: they are tried behind all others. The list holds what is followed. The error says why the data
// change nothing: they name no server, one without an address for clients, or one that other hosts cannot reach.
func (a *Adapter) Follow(data []byte) (list []string, err error) {
	port := ""
	if a.cfg.TLS != nil {
		if port, err = a.hosts.seedPort(); err != nil {
			return nil, err
		}
	}
	list, err = members(data, port, a.hosts.onLoopback())
	if err == nil {
		a.hosts.follow(list)
	}
	return list, err
}

// maxMembers is how many servers an ensemble has at most: the number of each is one byte of the ids of its sessions.
const maxMembers = 255

// Member returns the address for clients in one line of the ensemble's configuration, "server.1=…". Loopback says
// that an address of this machine may be meant. The error says what is wrong with the line.
func Member(line string, loopback bool) (string, error) {
	list, err := members([]byte(line), "", loopback)
	if err != nil {
		return "", err
	}
	return list[0], nil
}

// members returns the addresses for clients in a configuration, in its order. If a port is given, it takes the place of
// those in the configuration, which names no port for TLS.
func members(data []byte, port string, loopback bool) (list []string, err error) {
	for line := range strings.Lines(string(data)) {
		name, spec, _ := strings.Cut(strings.TrimSpace(line), "=")
		if !strings.HasPrefix(name, "server.") {
			continue
		}
		address, err := member(spec, loopback)
		if err != nil {
			return nil, fmt.Errorf("%s=%s: %w", quoted(name), quoted(spec), err)
		}
		if host, _, _ := net.SplitHostPort(address); port != "" {
			address = net.JoinHostPort(host, port)
		}
		if !slices.Contains(list, address) {
			list = append(list, address)
		}
		if len(list) > maxMembers {
			return nil, fmt.Errorf("it names more than %d servers", maxMembers)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("it names no server")
	}
	return list, nil
}

// member returns the address for clients in HOST:PORT:PORT[|HOST:PORT:PORT][:ROLE];[HOST:]PORT. Without a host of its
// own, or with one that stands for all addresses of the server, it is at the first host.
func member(spec string, loopback bool) (string, error) {
	between, client, found := strings.Cut(spec, ";")
	switch {
	case !found || client == "":
		return "", errors.New("it names no port for clients")
	case strings.Contains(client, ";"):
		return "", errors.New("it names two addresses for clients")
	}
	if !strings.Contains(client, ":") {
		client = "0.0.0.0:" + client
	}
	address, err := parseServer(client)
	if err != nil {
		return "", err
	}
	host, port, _ := net.SplitHostPort(address)
	if everywhere(host) {
		host = hostBefore(between)
	}
	switch {
	case host == "" || everywhere(host):
		return "", errors.New("it names no host that a client can reach")
	case here(host) && !loopback:
		return "", errors.New("its host is another machine on each machine")
	}
	return parseServer(net.JoinHostPort(host, port))
}

// hostBefore returns the host at the beginning of HOST:PORT…, where an IPv6 address is in brackets.
func hostBefore(text string) string {
	if strings.HasPrefix(text, "[") {
		host, _, _ := strings.Cut(text[1:], "]")
		return host
	}
	first, _, _ := strings.Cut(text, "|")
	if strings.Count(first, ":") > 3 { // an IPv6 address without brackets
		return ""
	}
	host, _, _ := strings.Cut(first, ":")
	return host
}

// everywhere reports whether a host is the address that stands for all of a server's own.
func everywhere(host string) bool {
	ip := ipOf(host)
	return ip != nil && ip.IsUnspecified()
}

// here reports whether a host means another machine on each machine.
func here(host string) bool {
	ip, name := ipOf(host), strings.ToLower(strings.TrimSuffix(host, "."))
	return ip != nil && ip.IsLoopback() || name == "localhost" || strings.HasPrefix(name, "localhost.")
}

// ipOf returns a host that is an IP address, without the zone that an IPv6 address may have, and nil for a name.
func ipOf(host string) net.IP {
	address, _, _ := strings.Cut(host, "%")
	return net.ParseIP(address)
}

// seedPort returns the port of Config.Servers. The error says that they have several.
func (h *hosts) seedPort() (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	port := ""
	for _, t := range h.targets {
		if t.seed && port != "" && t.port != port {
			return "", errors.New("the servers that were given have several ports, " +
				"and the configuration names none for TLS")
		}
		if t.seed {
			port = t.port
		}
	}
	return port, nil
}

// onLoopback reports whether the present connection is to this machine.
func (h *hosts) onLoopback() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	host, _, err := net.SplitHostPort(h.address)
	return err == nil && here(host)
}

// follow makes a list of servers those of the ensemble. What is known of servers that stay, stays known.
func (h *hosts) follow(list []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := map[*target]bool{}
	for _, t := range h.targets {
		before[t], t.listed = t.listed, false
	}
	for _, server := range list {
		i := slices.IndexFunc(h.targets, func(t *target) bool { return t.server == server })
		if i < 0 {
			i = len(h.targets)
			h.targets = append(h.targets, newTarget(server))
		}
		h.targets[i].listed = true
	}
	h.confirmed = false
	// While no server serves that a list names, the last two lists stay, and no more.
	h.drop(func(t *target) bool { return !t.listed && !before[t] && !t.seed && t != h.current })
	h.prune()
}

// drop takes servers off the list.
func (h *hosts) drop(gone func(*target) bool) {
	h.targets = slices.DeleteFunc(h.targets, gone)
	h.left = slices.DeleteFunc(h.left, gone)
}
