//go:build unix

package servetest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// reply is a response of the server.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// do performs a request. Headers are "name: value".
func (w *world) do(method, path, body string, headers ...string) (*reply, error) {
	r, err := w.open(w.t.Context(), method, path, body, headers...)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return &reply{r.StatusCode, r.Header, b}, err
}

// open sends a request. The caller must close the body of the response.
func (w *world) open(ctx context.Context, method, path, body string, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.url.Load().(string)+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range append([]string{w.as}, headers...) {
		name, value, _ := strings.Cut(h, ": ")
		if name != "" {
			r.Header.Set(name, value)
		}
	}
	return w.http.Do(r)
}

// must performs a request that has to succeed with a status.
func (w *world) must(status int, method, path, body string, headers ...string) []byte {
	w.t.Helper()
	r, err := w.do(method, path, body, headers...)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	if r.status != status {
		w.t.Fatalf("%s %s: status %d, want %d: %s", method, path, r.status, status, r.body)
	}
	return r.body
}

// create starts a run.
func (w *world) create(agent, run string, headers ...string) {
	w.t.Helper()
	w.must(http.StatusCreated, http.MethodPost, "/v1/agents/"+agent+"/runs", fmt.Sprintf(`{"run_id":%q,"question":"Do all parts"}`, run), headers...)
}

// result is the result of a run, as far as these tests look.
type result struct {
	Run      string `json:"run_id"`
	Status   string `json:"status"`
	Response string `json:"response"`
	Steps    []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Result string `json:"result"`
	} `json:"steps"`
	Interrupts []question       `json:"interrupts"`
	Decisions  []decisionRecord `json:"decisions"`
	Messages   []userMessage    `json:"messages"`
}

type decisionRecord struct {
	Path string `json:"path"`
	Do   string `json:"do"`
	By   struct {
		User   string `json:"user"`
		Issuer string `json:"issuer"`
	} `json:"by"`
}

// question is an open question of a run.
type question struct {
	Run  string `json:"run_id"`
	Path string `json:"path"`
	Kind string `json:"kind"`
}

func (w *world) result(run string) *result {
	w.t.Helper()
	var r result
	decode(w, w.must(http.StatusOK, http.MethodGet, "/v1/runs/"+run, ""), &r)
	return &r
}

// summary is a run in a list.
type summary struct {
	Run    string `json:"run_id"`
	Status string `json:"status"`
}

// list returns all runs.
func (w *world) list() (all []summary) {
	w.t.Helper()
	for cursor := ""; ; {
		var page struct {
			Runs []summary
			Next string
		}
		decode(w, w.must(http.StatusOK, http.MethodGet, "/v1/runs?limit=500"+cursor, ""), &page)
		if all = append(all, page.Runs...); page.Next == "" {
			return all
		}
		cursor = "&cursor=" + url.QueryEscape(page.Next)
	}
}

func decode(w *world, b []byte, to any) {
	w.t.Helper()
	if err := json.Unmarshal(b, to); err != nil {
		w.t.Fatalf("%v: %s", err, b)
	}
}

// event is a server-sent event.
type event struct {
	id, kind string
	data     []byte
}

func (e event) String() string { return e.id + " " + e.kind + " " + string(e.data) }

// number returns the number of an event in its run; 0 = transient.
func (e event) number() int {
	_, seq, _ := strings.Cut(e.id, ".")
	n, _ := strconv.Atoi(seq)
	return n
}

// readEvents passes complete events to yield until it returns false, or the stream ends.
// The data of an event is valid until yield returns.
func readEvents(r io.Reader, yield func(event) bool) error {
	in, ev := bufio.NewReader(r), event{}
	for {
		line, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // longer than the buffer
			head := bytes.Clone(line)
			line, err = in.ReadBytes('\n')
			line = append(head, line...)
		}
		if err != nil {
			return err
		}
		field, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(": "))
		switch string(field) {
		case "id":
			ev.id = string(value)
		case "event":
			ev.kind = string(value)
		case "data":
			ev.data = append(ev.data[:0], value...)
		case "":
			if ev.kind != "" && !yield(ev) {
				return nil
			}
			ev = event{data: ev.data}
		}
	}
}

// watcher joins the events of a run over any number of connections.
type watcher struct {
	w           *world
	run         string
	joined      []event
	connections int
}

// watch receives events until the run has ended for good.
func (a *watcher) watch(ctx context.Context) error {
	for ctx.Err() == nil {
		done, err := a.connect(ctx)
		if err != nil || done {
			return err
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// connect receives the events of one connection. done reports that the run has ended. A
// broken connection is no error.
func (a *watcher) connect(ctx context.Context) (done bool, err error) {
	headers := []string{"accept: text/event-stream"}
	last := 0
	if n := len(a.joined); n > 0 {
		headers = append(headers, "last-event-id: "+a.joined[n-1].id)
		last = a.joined[n-1].number()
	}
	r, openErr := a.w.open(ctx, http.MethodGet, "/v1/runs/"+a.run+"/events", "", headers...)
	if openErr != nil {
		return false, nil
	}
	defer r.Body.Close()
	if r.StatusCode == http.StatusServiceUnavailable {
		return false, nil
	}
	if r.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(r.Body)
		return false, fmt.Errorf("watch %s: status %d: %s", a.run, r.StatusCode, b)
	}
	a.connections++
	_ = readEvents(r.Body, func(ev event) bool {
		switch {
		case ev.kind == "end":
			done = bytes.Contains(ev.data, []byte(`"completed"`)) || bytes.Contains(ev.data, []byte(`"failed"`)) || bytes.Contains(ev.data, []byte(`"cancelled"`))
			return false
		case ev.kind == "rewound":
			err = fmt.Errorf("run %s was rewound: %s", a.run, ev)
		case ev.id == "":
			return true
		case ev.number() != last+1:
			err = fmt.Errorf("run %s: event %s follows number %d", a.run, ev, last)
		}
		last = ev.number()
		a.joined = append(a.joined, event{ev.id, ev.kind, bytes.Clone(ev.data)})
		return err == nil
	})
	return done, err
}

// events returns all numbered events of a run.
func (w *world) events(run string) []event {
	w.t.Helper()
	a := &watcher{w: w, run: run}
	if _, err := a.connect(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return a.joined
}
