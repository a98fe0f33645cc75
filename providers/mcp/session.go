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

// leave is how long a server at an address may take to say goodbye.
const leave = time.Second

// session is a server that answers, until it is lost or ended.
type session struct {
	link    *link
	carrier *carrier
	calls   *calls
	life    context.Context // of its connection
	stop    context.CancelFunc
	dead    chan struct{} // closed when the connection is no more
	once    sync.Once

	client *sdk.ClientSession
	broken atomic.Bool   // it will be dead soon
	ending error         // why it is dead
	first  *tool.Listing // of its start, until it is asked for

	mu    sync.Mutex
	known map[string]known
}

func newSession(l *link, c *carrier) *session {
	s := &session{link: l, carrier: c, calls: newCalls(), dead: make(chan struct{})}
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

// connect agrees with the server on how they talk.
func (s *session) connect(ctx context.Context, t sdk.Transport) error {
	client, err := s.newClient()
	if err != nil {
		return err
	}
	type outcome struct {
		session *sdk.ClientSession
		err     error
	}
	came := make(chan outcome, 1)
	go func() {
		session, err := client.Connect(s.life, t, nil)
		came <- outcome{session, err}
	}()
	select {
	case o := <-came:
		if o.err != nil {
			return o.err
		}
		s.client = o.session
		go s.watch()
		return nil
	case <-ctx.Done():
		s.carrier.end()
		return ctx.Err()
	}
}

// watch waits for the end of the connection.
func (s *session) watch() {
	s.ending = s.client.Wait()
	close(s.dead)
}

// alive says whether calls may be made; a nil session is not.
func (s *session) alive() bool {
	if s == nil || s.broken.Load() {
		return false
	}
	select {
	case <-s.dead:
		return false
	default:
		return true
	}
}

// lost is why a session is lost; cause, where it is not nil, is what a call was
// told of it.
func (s *session) lost(cause error) error {
	timer := time.NewTimer(endedSoon)
	defer timer.Stop()
	select {
	case <-s.dead:
		if s.ending != nil {
			cause = s.ending
		}
	case <-timer.C:
	}
	err := errors.New("the connection to the server was lost")
	if cause != nil && !errors.Is(cause, sdk.ErrConnectionClosed) && !errors.Is(cause, io.EOF) {
		err = fmt.Errorf("%w: %w", err, plainly(cause))
	}
	return withAbout(err, s.carrier.about())
}

// end leaves nothing of the connection. The calls that go on fail.
func (s *session) end() {
	s.once.Do(func() {
		s.calls.stop()
		if s.client != nil && !s.link.local() {
			s.goodbye()
		}
		s.carrier.end()
		s.stop()
		if s.client != nil {
			// Its error is of no interest any more, and it waits for answers to
			// what the server asked.
			go func() { _ = s.client.Close() }()
			s.buried()
		}
	})
}

// buried waits until the connection is no more, which what is asked of people
// may hold up.
func (s *session) buried() {
	timer := time.NewTimer(leave)
	defer timer.Stop()
	select {
	case <-s.dead:
	case <-timer.C:
	}
}

// goodbye lets a server at an address forget the session.
func (s *session) goodbye() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// An error says that the server is gone, or does not forget: its affair.
		_ = s.client.Close()
	}()
	timer := time.NewTimer(leave)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// local says whether the server is a child of ours.
func (l *link) local() bool {
	_, ok := l.place.(*program)
	return ok
}

// withAbout adds what the other end left behind that explains an error.
func withAbout(err error, about string) error {
	if about == "" {
		return err
	}
	return fmt.Errorf("%w; %s", err, about)
}

// newClient is what the server is told of us, and who answers what it asks.
func (s *session) newClient() (*sdk.Client, error) {
	t := s.link.server
	roots, err := t.rootList()
	if err != nil {
		return nil, err
	}
	able := &sdk.ClientCapabilities{}
	options := &sdk.ClientOptions{
		Capabilities:                able,
		ProgressNotificationHandler: s.progress,
		LoggingMessageHandler:       s.logged,
		MultiRoundTrip:              &sdk.MultiRoundTripOptions{Disabled: true}, // see rounds
	}
	if len(roots) > 0 {
		able.RootsV2 = &sdk.RootCapabilities{}
	}
	if t.config.Elicitation {
		able.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
		options.ElicitationHandler = s.elicit
	}
	if t.config.Sampling != nil {
		able.Sampling = &sdk.SamplingCapabilities{}
		options.CreateMessageHandler = s.sample
	}
	client := sdk.NewClient(identity(t.settings.UserAgent), options)
	client.AddRoots(roots...)
	client.AddReceivingMiddleware(sound(errMalformed))
	client.AddSendingMiddleware(sound(errors.New("its answer cannot be read: it is malformed")))
	return client, nil
}

// identity is who we say we are: name/version as in a User-Agent.
func identity(agent string) *sdk.Implementation {
	name, version, _ := strings.Cut(agent, "/")
	if name == "" {
		name = "pex"
	}
	if version == "" {
		version = "0"
	}
	return &sdk.Implementation{Name: name, Version: version}
}
