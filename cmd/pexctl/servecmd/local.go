package servecmd

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/api"
)

// Local is a server of one spec within a command, without a port. It executes the runs that its
// client starts or resumes, and no others of the home. The client acts as the user of the process,
// who may override any value of the spec.
type Local struct {
	agent  string
	home   string
	client *apiclient.Client
	daemon *daemon
	stop   context.CancelFunc
	ended  chan error
}

// StartLocal starts a server of the spec that word names, over the home of its project. It asks
// whether to trust the spec as other commands do. log receives errors that no client sees.
func StartLocal(c *ui.Call, word string, log *slog.Logger) (*Local, error) {
	s, err := localSetup(c, word)
	if err != nil {
		return nil, err
	}
	d, err := newDaemon(c, s, log)
	if err != nil {
		return nil, err
	}
	l := &Local{agent: d.agents.All()[0].Name, home: s.home, daemon: d, ended: make(chan error, 1)}
	if err := l.serve(c); err != nil {
		d.close()
		return nil, err
	}
	return l, nil
}

// localSetup returns the setup of a server of one spec.
func localSetup(c *ui.Call, word string) (*setup, error) {
	path, err := project.Local(c, word)
	if err != nil {
		return nil, err
	}
	s := &setup{specs: []string{path}}
	if err := s.load(c); err != nil {
		return nil, err
	}
	owner := project.User()
	s.compile, s.owner, s.config.Grace = project.OptionsFor(c, word), &owner, project.Grace
	s.home, err = project.HomeOfSpec(c, word)
	return s, err
}

// serve serves the API to the client.
func (l *Local) serve(c *ui.Call) error {
	d := l.daemon
	streams := d.streams()
	clients := d.access(streams)
	guard, err := d.newGuard(c, clients)
	if err != nil {
		return err
	}
	limits := d.setup.config.Limits
	s, err := server.New(server.Options{
		Handler: d.handler(c, clients), IsUpload: api.IsUpload, Auth: guard, Streams: streams, Version: version.String(),
		Limits: server.Limits{Body: limits.Body, Upload: limits.Upload, Header: int(limits.Header), Connections: limits.Connections},
		Drain:  d.suspend, Grace: d.setup.config.Grace + closeTime, Log: d.log,
	})
	if err != nil {
		return failure.Usagef("%w", err)
	}
	pipe := newPipe()
	l.client, err = apiclient.New(apiclient.Settings{URL: "http://localhost", Transport: &http.Transport{DialContext: pipe.dial}})
	if err != nil {
		return failure.Infra(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(c.Context))
	l.stop = stop
	go func() { l.ended <- s.Serve(ctx, pipe) }()
	return nil
}

// Client returns the client of the server.
func (l *Local) Client() *apiclient.Client { return l.client }

// Agent returns the name of the agent that runs the spec.
func (l *Local) Agent() string { return l.agent }

// Home returns the folder of the runs.
func (l *Local) Home() string { return l.home }

// Close suspends the runs and ends the server. Calls in flight may end within the grace time.
func (l *Local) Close() error {
	l.stop()
	err := <-l.ended
	l.daemon.close()
	if err != nil {
		return failure.Infra(err)
	}
	return nil
}

// pipe is a listener whose connections stay within the process.
type pipe struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    sync.Once
}

var _ net.Listener = (*pipe)(nil)

func newPipe() *pipe { return &pipe{accepted: make(chan net.Conn), closed: make(chan struct{})} }

// dial connects a client, whatever the address.
func (p *pipe) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accepted <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipe) Close() error {
	p.close.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *pipe) Addr() net.Addr { return pipeAddr{} }

// pipeAddr is the address of both ends of a pipe.
type pipeAddr struct{}

// Network implements net.Addr.
func (pipeAddr) Network() string { return "pipe" }

// String implements net.Addr.
func (pipeAddr) String() string { return "pipe" }
