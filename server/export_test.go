package server

import (
	"crypto/tls"
	"log/slog"
	"net/http"
)

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Certificates returns a function that returns the certificate for a handshake.
func Certificates(c Certificate, log *slog.Logger) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	f := &certificateFiles{Certificate: c, log: log}
	return f.get, f.load()
}
