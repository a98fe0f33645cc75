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

// awaitCallback listens on loopback, opens the sign-in page and waits for the callback
// with the right state. Other requests get 404 and are ignored.
func awaitCallback(ctx context.Context, port int, state string, open func() error) (*auth.AuthorizationResult, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen for the sign-in callback: %w; set redirect_port to use another port", err)
	}
	back := make(chan callbackResult, 1)
	server := &http.Server{Handler: callbackHandler(state, back), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // it returns when closed
	}()
	defer func() {
		_ = server.Close() // nothing more to receive
		<-served
	}()
	if err := open(); err != nil {
		return nil, err
	}
	select {
	case r := <-back:
		return r.result, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("the sign-in was not completed: %w", ctx.Err())
	}
}

// callbackResult is the outcome of a callback.
type callbackResult struct {
	result *auth.AuthorizationResult
	err    error
}

// callbackHandler handles the browser's callback.
func callbackHandler(state string, back chan<- callbackResult) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.Method != http.MethodGet || r.URL.Path != callbackPath || state == "" ||
			subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		outcome, page := callbackResult{result: &auth.AuthorizationResult{Code: q.Get("code"), State: state, Iss: q.Get("iss")}}, "Signed in. You can close this page and return to the terminal."
		if code := q.Get("error"); code != "" || q.Get("code") == "" {
			outcome, page = callbackResult{err: signInError(code, q.Get("error_description"))}, "Sign-in failed. See the terminal for details."
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Connection", "close")
		_, _ = w.Write([]byte(page)) // the browser may have disconnected
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		select {
		case back <- outcome:
		default: // a second callback
		}
	})
}

// signInError returns the error that a provider reported.
func signInError(code, description string) error {
	const most = 200 // bytes of untrusted text
	if code == "" {
		return errors.New("the provider returned no code")
	}
	return fmt.Errorf("the provider refused the sign-in: %.*s %.*s", most, code, most, description)
}
