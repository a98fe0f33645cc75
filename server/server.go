package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
)

// Options configure a Server.
type Options struct {
	Handler http.Handler // of all requests but those for the health of the server
	// IsUpload reports whether the body of a request is a file, for which Limits has other
	// values; nil = no request has one.
	IsUpload func(*http.Request) bool
	Routes   []Route       // paths with a handler of their own
	Auth     *auth.Guard   // nil = the handler receives no identity
	TLS      *Certificate  // nil = plain HTTP
	Streams  *feed.Streams // the event streams, which end after Drain; nil = none
	Limits   Limits
	Version  string                      // shown by /version
	Ready    func(context.Context) error // why the server cannot accept work, for clients; nil = it can
	// Drain ends the work of handlers, such as runs, before the end of ctx. It is called
	// once, when the server shuts down. Nil = there is none.
	Drain func(ctx context.Context)
	// Observe is called at the end of each request, but for probes. route is the pattern of its
	// path, such as /v1/runs/{run}; "" = none matched. Nil = not called.
	Observe func(method, route string, status int, took time.Duration)
	Grace   time.Duration // how long a shutdown may take; 0 = 10 seconds
	Log     *slog.Logger  // nil = no log
}

// Limits protect the server from slow and oversized requests. Zero values mean the
// defaults.
type Limits struct {
	Body       int64         // bytes of a request body; 1 MiB
	Upload     int64         // bytes of the body of an upload; 32 MiB
	Header     int           // bytes of a request's header; 32 KiB
	ReadHeader time.Duration // 10 seconds
	ReadBody   time.Duration // 30 seconds
	ReadUpload time.Duration // of the body of an upload; 10 minutes
	Write      time.Duration // of each write; 30 seconds
	Idle       time.Duration // between the requests of a connection; 2 minutes

	Connections int // open at once; 4096
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Body, 1<<20)
	setDefault(&l.Upload, 32<<20)
	setDefault(&l.Header, 32<<10)
	setDefault(&l.ReadHeader, 10*time.Second)
	setDefault(&l.ReadBody, 30*time.Second)
	setDefault(&l.ReadUpload, 10*time.Minute)
	setDefault(&l.Write, 30*time.Second)
	setDefault(&l.Idle, 2*time.Minute)
	setDefault(&l.Connections, 4096)
	return l
}

func setDefault[T comparable](value *T, def T) {
	var zero T
	if *value == zero {
		*value = def
	}
}

// Server is an HTTP server. Serve may be called once.
type Server struct {
	o        Options
	stopping atomic.Bool
	http     *http.Server
}

// New returns a Server. The error says why the certificate cannot be loaded.
func New(o Options) (*Server, error) {
	o.Limits = o.Limits.withDefaults()
	setDefault(&o.Grace, 10*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o}
	s.http = &http.Server{
		Handler:           s.middleware(),
		ReadHeaderTimeout: o.Limits.ReadHeader,
		IdleTimeout:       o.Limits.Idle,
		MaxHeaderBytes:    o.Limits.Header,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	if o.TLS != nil {
		files := &certificateFiles{Certificate: *o.TLS, log: o.Log}
		if err := files.load(); err != nil {
			return nil, err
		}
		s.http.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: files.get}
	}
	return s, nil
}

// Serve accepts connections until ctx ends, then shuts down: /readyz reports that the
// server is not ready, no connection is accepted, Drain is called, event streams end, and
// requests in flight may take up to Options.Grace. It closes the listener. It returns nil
// after a shutdown, or the error of the listener.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	s.http.BaseContext = func(net.Listener) context.Context { return context.WithoutCancel(ctx) }
	ln = limitConnections(ln, s.o.Limits.Connections)
	failed := make(chan error, 1)
	go func() {
		if s.o.TLS != nil {
			failed <- s.http.ServeTLS(ln, "", "")
		} else {
			failed <- s.http.Serve(ln)
		}
	}()
	select {
	case err := <-failed:
		_ = s.http.Close() // the listener failed: its error matters
		return err
	case <-ctx.Done():
		s.shutDown(context.WithoutCancel(ctx))
		return nil
	}
}

func (s *Server) shutDown(ctx context.Context) {
	s.stopping.Store(true)
	ctx, cancel := context.WithTimeout(ctx, s.o.Grace)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- s.http.Shutdown(ctx) }()
	if s.o.Drain != nil {
		s.o.Drain(ctx)
	}
	if s.o.Streams != nil {
		s.o.Streams.Close()
	}
	if err := <-closed; err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			s.o.Log.Warn("requests in flight were aborted", "grace", s.o.Grace)
		}
		_ = s.http.Close() // closes connections, and so ends the contexts of their requests
	}
}
