package wire

import (
	"errors"
	"net"
	"net/http"
)

// Down says that an error tells of a server that is not there, and not of what
// it was asked: no address, no connection, no answer in time. What the guard
// refused was never asked.
func Down(err error) bool {
	for _, own := range []error{ErrBlocked, ErrRedirect, ErrTooLarge} {
		if errors.Is(err, own) {
			return false
		}
	}
	_, network := errors.AsType[net.Error](err)
	return network
}

// DownStatus says the same of a status: 502, 503 and 504, by which a gateway
// speaks for a server behind it.
func DownStatus(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}
