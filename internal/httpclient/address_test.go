package httpclient_test

import (
	"net/netip"
	"testing"

	"github.com/pexctl/pex/internal/httpclient"
)

// The guard does not depend on how net formats dialled addresses: a mapped address counts as its IPv4 address, and a
// zone does not make an address public.
func TestPublicAddresses(t *testing.T) {
	tests := map[string]bool{
		"8.8.8.8": true, "::ffff:8.8.8.8": true, "2606:4700::1111": true, "2606:4700::1111%lo": true,
		"100.100.100.200": false, "::ffff:100.100.100.200": false, "::ffff:198.18.0.1": false, "::ffff:0.1.2.3": false,
		"::ffff:192.0.0.8": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false,
		"2001:db8::1%lo": false, "2002:7f00:1::%lo": false, "64:ff9b::7f00:1%lo": false, "fd00::1%lo": false, "fe80::1%lo": false,
	}
	for text, want := range tests {
		if got := httpclient.Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	if httpclient.Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}
