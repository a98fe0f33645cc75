package serverspec

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
)

// IsLoopback reports whether only this machine can reach a host that a server
// listens on. An empty host means all interfaces.
func IsLoopback(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// listen checks the address of the server.
func (b *compiler) listen() {
	v := b.tree.Get("listen")
	b.config.Listen, b.config.ListenAt = b.keys.Listen, testspec.PositionOf(b.at("listen"))
	host, port, err := net.SplitHostPort(b.keys.Listen)
	if n, no := strconv.ParseUint(port, 10, 16); err != nil || no != nil || strconv.FormatUint(n, 10) != port || strings.ContainsAny(host, "/ ") {
		if v != nil && v.IsScalar() {
			b.Report.Error(diag.NotAllowed, v.Position, "invalid address %s for listen", syntax.Quote(v.Text)).Hint = addressHint(v.Text)
		}
		return
	}
	if !b.hasAuth && !IsLoopback(host) && !b.env.Insecure {
		b.Report.Error(diag.Exposed, b.at("listen"), "listen: %s accepts connections from other machines, and there is no auth", b.keys.Listen).
			Hint = "add auth: {tokens: {file: tokens.yaml}}, or listen on 127.0.0.1:" + port + "; pexctl serve --insecure serves everyone who can connect"
	}
}

// addressHint returns the address that a text most likely means.
func addressHint(s string) string {
	u, err := url.Parse(s)
	switch n, no := strconv.ParseUint(s, 10, 16); {
	case no == nil:
		return "write 127.0.0.1:" + strconv.FormatUint(n, 10)
	case err == nil && u.Port() != "":
		return "write only host and port: " + u.Host
	case strings.Count(s, ":") > 1 && !strings.Contains(s, "["):
		if at := strings.LastIndexByte(s, ':'); IsLoopback(s[:at]) {
			return "put an IPv6 address in brackets: [" + s[:at] + "]" + s[at:]
		}
		return "put an IPv6 address in brackets: \"[::1]:8484\""
	case !strings.Contains(s, ":") && !strings.ContainsAny(s, "/ "):
		return "add a port: " + s + ":8484"
	}
	return "write host:port: 127.0.0.1:8484"
}
