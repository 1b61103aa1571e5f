// Package jobs has what an instance of an ElasticJob job needs apart from its machines: names, and the ticks of
// schedules.
package jobs

import (
	"net"
	"strconv"
	"strings"
)

// HostAddress returns the first address that others may reach.
func HostAddress() string {
	all, _ := net.InterfaceAddrs() // without any, the loopback is left
	return hostAddress(all)
}

func hostAddress(all []net.Addr) string {
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	return "127.0.0.1"
}

// ServerOf returns the address in an instance's id, or this host's.
func ServerOf(id string) string {
	if ip, _, has := strings.Cut(id, "@-@"); has && ip != "" {
		return ip
	}
	return HostAddress()
}

// ItemParameters reads ElasticJob's form, as in "0=Berlin,1=Paris". It passes over what is not in that form.
func ItemParameters(text string) map[int]string {
	all := map[int]string{}
	for one := range strings.SplitSeq(text, ",") {
		item, parameter, ok := strings.Cut(one, "=")
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if ok && err == nil {
			all[n] = strings.TrimSpace(parameter)
		}
	}
	return all
}
