package webhook

import (
	"crypto/tls"
	"errors"
	"net"

	"github.com/pexctl/pex/internal/httpclient"
)

// What clients see of errors whose text has addresses.
var (
	errNotPublic   = errors.New("the name of the receiver has an address which is not a public address")
	errUnknownHost = errors.New("the name of the receiver has no address")
	errResolve     = errors.New("the name of the receiver could not be resolved")
	errCertificate = errors.New("the certificate of the receiver is not valid")
)

// clientError returns an error of an attempt as clients see it: without the addresses of the
// server's network, which are only logged.
func clientError(err error) error {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, httpclient.ErrBlocked):
		return errNotPublic
	case errors.As(err, &name) && name.IsNotFound:
		return errUnknownHost
	case errors.As(err, &name):
		return errResolve
	case errors.As(err, &certificate):
		return errCertificate
	}
	for op := (*net.OpError)(nil); errors.As(err, &op) && op.Err != nil; {
		err = op.Err
	}
	return err
}
