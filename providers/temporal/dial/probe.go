package dial

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// probe finds out why a server cannot be used, where gRPC only says that it is unavailable: it
// connects again without gRPC, where errors have types.
func (t *target) probe(ctx context.Context, e *Error, timeout time.Duration) {
	if strings.Contains(e.Address, "://") { // a resolver of gRPC, such as dns:///HOST:PORT
		e.Reason = NoServer
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", e.Address)
	if err != nil {
		e.Reason, e.Err = NoServer, err
		return
	}
	defer func() { _ = conn.Close() }() // nothing was sent that matters
	c := t.options.ConnectionOptions.TLS
	if c == nil {
		probePlain(ctx, e, conn)
		return
	}
	probeTLS(ctx, e, conn, c)
}

// probePlain is probe of a connection without TLS.
func probePlain(ctx context.Context, e *Error, conn net.Conn) {
	if speaksHTTP2(ctx, conn) == nil {
		return // it is gRPC's error that counts
	}
	err := handshake(ctx, e.Address, nil)
	var certificate *tls.CertificateVerificationError
	if err == nil || errors.As(err, &certificate) || isAlert(err) {
		e.Reason, e.Err = WrongTLS, errors.New("the server requires TLS, and the settings have none")
		e.Hint = "set TEMPORAL_TLS=true, and TEMPORAL_TLS_SERVER_CA_CERT_PATH if its certificate is of a private authority"
		return
	}
	e.Reason, e.Err = NotTemporal, nil
}

// probeTLS is probe of a connection with TLS.
func probeTLS(ctx context.Context, e *Error, conn net.Conn, c *tls.Config) {
	c = c.Clone()
	c.NextProtos = []string{"h2"}
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(e.Address)
	}
	secure := tls.Client(conn, c)
	err := secure.HandshakeContext(ctx)
	if isAlert(err) { // perhaps since the server has no HTTP/2
		c.NextProtos = nil
		if handshake(ctx, e.Address, c) == nil {
			e.Reason, e.Err = NotTemporal, errNotHTTP2
			return
		}
	}
	if err == nil {
		err = speaksHTTP2(ctx, secure) // since TLS 1.3 a server refuses certificates after the handshake
	}
	var plain tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil:
		return // it is gRPC's error that counts
	case errors.As(err, &plain):
		e.Reason, e.Err = WrongTLS, errors.New("the server does not use TLS, and the settings do")
		e.Hint = "set TEMPORAL_TLS=false; an API key turns TLS on"
	case errors.As(err, &certificate):
		e.Reason, e.Err = WrongTLS, err
		e.Hint = "set TEMPORAL_TLS_SERVER_CA_CERT_PATH to the certificate of its authority, or TEMPORAL_TLS_SERVER_NAME to a name in its certificate"
	case isAlert(err):
		e.Reason, e.Err = WrongTLS, err
		e.Hint = "set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH to a client certificate that the server accepts"
	default:
		e.Reason, e.Err = NotTemporal, err
	}
}

// handshake makes a TLS connection and closes it.
func handshake(ctx context.Context, address string, c *tls.Config) error {
	conn, err := (&tls.Dialer{Config: c}).DialContext(ctx, "tcp", address)
	if err == nil {
		err = conn.Close()
	}
	return err
}

// isAlert reports whether the other side ended a TLS connection with an alert.
func isAlert(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "remote error"
}

var (
	http2Preface  = []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	http2Settings = []byte{0, 0, 0, 4, 0, 0, 0, 0, 0} // a frame of type SETTINGS without settings
)

var errNotHTTP2 = errors.New("the server does not answer in HTTP/2")

// speaksHTTP2 greets a server in HTTP/2 and returns nil if it greets back: RFC 9113, section 3.4.
func speaksHTTP2(ctx context.Context, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(append(append([]byte(nil), http2Preface...), http2Settings...)); err != nil {
		return err
	}
	frame := make([]byte, 9)
	if _, err := io.ReadFull(conn, frame); err != nil {
		return err
	}
	const settings, maxFrame = 4, 1 << 14
	if size := binary.BigEndian.Uint32(append([]byte{0}, frame[:3]...)); size > maxFrame || frame[3] != settings {
		return errNotHTTP2
	}
	return nil
}
