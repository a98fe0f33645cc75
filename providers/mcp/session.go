package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/tool"
)

// closeTimeout is how long an HTTP server may take to close the session.
const closeTimeout = time.Second

// session is a connection to a server.
type session struct {
	manager  *connManager
	conn     *connection
	calls    *calls
	lifetime context.Context // of its connection
	stop     context.CancelFunc
	done     chan struct{} // closed when the connection has ended
	once     sync.Once

	client       *sdk.ClientSession
	broken       atomic.Bool   // the connection is about to end
	closeErr     error         // why the connection ended
	firstListing *tool.Listing // tools read on start, for the first list

	mu    sync.Mutex
	known map[string]knownTool
}

func newSession(l *connManager, c *connection) *session {
	s := &session{manager: l, conn: c, calls: newCalls(), done: make(chan struct{})}
	s.lifetime, s.stop = context.WithCancel(context.Background())
	return s
}

// connect initializes the protocol.
func (s *session) connect(ctx context.Context, t sdk.Transport) error {
	client, err := s.newClient()
	if err != nil {
		return err
	}
	type result struct {
		session *sdk.ClientSession
		err     error
	}
	connected := make(chan result, 1)
	go func() {
		session, err := client.Connect(s.lifetime, t, nil)
		connected <- result{session, err}
	}()
	select {
	case o := <-connected:
		if o.err != nil {
			return o.err
		}
		s.client = o.session
		go s.watch()
		return nil
	case <-ctx.Done():
		s.conn.close()
		return ctx.Err()
	}
}

// watch waits for the end of the connection.
func (s *session) watch() {
	s.closeErr = s.client.Wait()
	close(s.done)
}

// healthy reports whether calls can be made; false for nil.
func (s *session) healthy() bool {
	if s == nil || s.broken.Load() {
		return false
	}
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// closeError returns why the connection ended; cause is the error of a call, or nil.
func (s *session) closeError(cause error) error {
	timer := time.NewTimer(exitWait)
	defer timer.Stop()
	select {
	case <-s.done:
		if s.closeErr != nil {
			cause = s.closeErr
		}
	case <-timer.C:
	}
	err := errors.New("the connection to the server was lost")
	if cause != nil && !errors.Is(cause, sdk.ErrConnectionClosed) && !errors.Is(cause, io.EOF) {
		err = fmt.Errorf("%w: %w", err, plainError(cause))
	}
	return withDetail(err, s.conn.diagnostics())
}

// close ends the connection. Calls in flight fail.
func (s *session) close() {
	s.once.Do(func() {
		s.calls.stop()
		if s.client != nil && !s.manager.isChild() {
			s.terminate()
		}
		s.conn.close()
		s.stop()
		if s.client != nil {
			// In the background: it waits for answers to the server's requests. The error
			// no longer matters.
			go func() { _ = s.client.Close() }()
			s.awaitClosed()
		}
	})
}

// awaitClosed waits up to closeTimeout for the connection to end. Open questions to humans may delay the end.
func (s *session) awaitClosed() {
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
	}
}

// terminate asks an HTTP server to close the session.
func (s *session) terminate() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Best effort: the server may already be gone.
		_ = s.client.Close()
	}()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// isChild reports whether the server is a child process.
func (l *connManager) isChild() bool {
	_, ok := l.target.(*program)
	return ok
}

// withDetail adds diagnostics to an error.
func withDetail(err error, detail string) error {
	if detail == "" {
		return err
	}
	return fmt.Errorf("%w; %s", err, detail)
}

// newClient returns a client that declares our capabilities and handles the server's
// requests.
func (s *session) newClient() (*sdk.Client, error) {
	t := s.manager.server
	roots, err := t.rootList()
	if err != nil {
		return nil, err
	}
	caps := &sdk.ClientCapabilities{}
	options := &sdk.ClientOptions{
		Capabilities:                caps,
		ProgressNotificationHandler: s.progress,
		LoggingMessageHandler:       s.logMessage,
		MultiRoundTrip:              &sdk.MultiRoundTripOptions{Disabled: true}, // see multiRound
	}
	if len(roots) > 0 {
		caps.RootsV2 = &sdk.RootCapabilities{}
	}
	if t.config.Elicitation {
		caps.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
		options.ElicitationHandler = s.elicit
	}
	if t.config.Sampling != nil {
		caps.Sampling = &sdk.SamplingCapabilities{}
		options.CreateMessageHandler = s.sample
	}
	client := sdk.NewClient(clientInfo(t.settings.UserAgent), options)
	client.AddRoots(roots...)
	client.AddReceivingMiddleware(recoverPanics(errMalformed))
	client.AddSendingMiddleware(recoverPanics(errors.New("the reply is malformed")))
	return client, nil
}

// clientInfo returns our name and version from a User-Agent.
func clientInfo(agent string) *sdk.Implementation {
	name, version, _ := strings.Cut(agent, "/")
	if name == "" {
		name = "pex"
	}
	if version == "" {
		version = "0"
	}
	return &sdk.Implementation{Name: name, Version: version}
}
