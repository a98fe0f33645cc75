package mcp

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

const callbackPath = "/callback"

// comeBack listens on loopback, lets a person open an address, and waits for
// the browser to come back with the state that it was sent away with. Other
// visitors are turned away and end nothing.
func comeBack(ctx context.Context, port int, state string, open func() error) (*auth.AuthorizationResult, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("wait for the browser to come back: %w; redirect_port chooses another port", err)
	}
	back := make(chan returned, 1)
	server := &http.Server{Handler: doorman(state, back), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // it ends when it is closed, whatever it says
	}()
	defer func() {
		_ = server.Close() // nobody is to come any more
		<-served
	}()
	if err := open(); err != nil {
		return nil, err
	}
	select {
	case r := <-back:
		return r.result, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("nobody signed in: %w", ctx.Err())
	}
}

// returned is what the browser brought.
type returned struct {
	result *auth.AuthorizationResult
	err    error
}

// doorman hears the browser.
func doorman(state string, back chan<- returned) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.Method != http.MethodGet || r.URL.Path != callbackPath || state == "" ||
			subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		got, said := returned{result: &auth.AuthorizationResult{Code: q.Get("code"), State: state, Iss: q.Get("iss")}}, "Signed in. You can close this page and go back to the terminal."
		if code := q.Get("error"); code != "" || q.Get("code") == "" {
			got, said = returned{err: refusedSignIn(code, q.Get("error_description"))}, "Signing in did not work. The terminal says more."
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Connection", "close")
		_, _ = w.Write([]byte(said)) // a browser that has gone has done its part
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		select {
		case back <- got:
		default: // it came back before
		}
	})
}

// refusedSignIn is what a provider says instead of letting somebody in.
func refusedSignIn(code, description string) error {
	const most = 200 // bytes of a stranger's text
	if code == "" {
		return errors.New("the provider sent no code")
	}
	return fmt.Errorf("the provider refuses: %.*s %.*s", most, code, most, description)
}
