package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pexctl/pex/internal/httpclient"
)

const (
	maxAttempts = 8
	firstWait   = 5 * time.Second // before the second attempt; each further wait is four times as long
	waitFactor  = 4
	jitter      = 0.2 // of a wait

	timeout    = 15 * time.Second // of an attempt
	maxIgnored = 64 << 10         // bytes of a response that are read to use the connection again

	maxParallel = 8       // attempts of a hook at once
	maxHeld     = 4 << 20 // bytes of messages that a hook holds in memory
)

// sender sends the messages of one hook. Dispatcher.mu guards its fields.
type sender struct {
	d      *Dispatcher
	hook   *Hook
	client *http.Client

	ready   []*stream // in the order in which they get an attempt
	workers int
	held    int  // bytes of messages in memory
	gone    bool // the receiver does not want any more
	failing bool // the last attempt failed
}

// push lets a stream have its next attempt. The caller holds mu.
func (s *sender) push(x *stream) {
	if x.state != idle || x.waiting == 0 || s.gone {
		return
	}
	x.state = ready
	s.ready = append(s.ready, x)
	if s.workers < maxParallel && s.d.begin() {
		s.workers++
		go s.work()
	}
}

// work makes attempts until no stream is ready.
func (s *sender) work() {
	defer s.d.working.Done()
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	for len(s.ready) > 0 && !s.d.closing {
		x := s.ready[0]
		s.ready = s.ready[1:]
		if x.state != ready || x.sender != s { // removed, or of another sender meanwhile
			continue
		}
		x.state = busy
		if len(x.held) == 0 {
			x.load()
		}
		for x.state == busy && len(x.held) > 0 && x.sender == s && !s.d.closing {
			m := x.held[0]
			s.d.mu.Unlock()
			out := s.send(s.d.ctx, m)
			s.d.mu.Lock()
			x.attempted(m, out)
		}
		x.next()
	}
	s.workers--
}

// outcome is the outcome of an attempt.
type outcome struct {
	status     int   // 0 = no response
	err        error // nil = delivered; contains no part of the URL but its host
	retryAfter time.Duration
}

// send makes one attempt.
func (s *sender) send(ctx context.Context, m message) outcome {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.hook.URL.String(), bytes.NewReader(m.body))
	if err != nil {
		return outcome{err: errors.New("invalid URL")}
	}
	maps.Copy(req.Header, s.hook.Header)
	now := time.Now()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Webhook-Id", m.id)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("Webhook-Signature", s.hook.Secrets.sign(m.id, now, m.body))
	resp, err := s.client.Do(req)
	if err != nil {
		return outcome{err: reason(ctx, err)}
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxIgnored)
	_ = resp.Body.Close()
	out := outcome{status: resp.StatusCode}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		out.err = fmt.Errorf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
		out.retryAfter = httpclient.RetryAfter(resp.Header, now)
	}
	if resp.StatusCode >= 300 && resp.StatusCode <= 399 {
		out.err = fmt.Errorf("%w: redirects are not followed", out.err)
	}
	return out
}

// reason returns why there was no response, without the URL.
func reason(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no response within %v", timeout)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// wait returns the time between an attempt, counted from 1, and the next.
func wait(attempt int, out outcome) time.Duration {
	d := firstWait
	for range attempt - 1 {
		d *= waitFactor
	}
	d = time.Duration(float64(d) * (1 - jitter + 2*jitter*rand.Float64()))
	return max(d, out.retryAfter)
}

// succeeded notes that the receiver works. The caller holds mu.
func (s *sender) succeeded() {
	if s.failing {
		s.failing = false
		s.d.o.Log.Info("the webhook works again", "webhook", s.hook.Name)
	}
}

// failed notes that the receiver does not work. Only the first of several failures in a row
// is a warning. The caller holds mu.
func (s *sender) failed(out outcome, about ...any) {
	about = append([]any{"webhook", s.hook.Name, "receiver", s.hook.origin(), "error", out.err}, about...)
	level := slog.LevelDebug
	if !s.failing {
		s.failing, level = true, slog.LevelWarn
	}
	s.d.o.Log.Log(s.d.ctx, level, "webhook delivery failed; it is retried", about...)
	if out.status == http.StatusGone && !s.gone {
		s.gone, s.ready = true, nil
		s.d.o.Log.Error("the receiver wants no more webhooks (HTTP 410); deliveries continue after a reload", "webhook", s.hook.Name, "receiver", s.hook.origin())
	}
}
