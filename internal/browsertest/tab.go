//go:build e2e

package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// timeout limits each operation.
const timeout = 30 * time.Second

// Tab is a page in Chromium. Its methods fail the test when they do not succeed within 30
// seconds. It must not be used concurrently.
type Tab struct {
	Clicks int // number of calls of Click

	context.Context
	t      *testing.T
	origin string

	mu       sync.Mutex
	wrong    []string // what must not happen
	faults   []string // of the current page
	requests []string // of the current page
}

// Open starts Chromium with an empty page of a size in pixels. It exits with the test. Pages may
// request URLs that start with origin, and no others.
func Open(t *testing.T, origin string, width, height int) *Tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.WindowSize(width, height),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	b := &Tab{Context: ctx, t: t, origin: origin}
	if err := chromedp.Listen(ctx, b.record); err != nil {
		t.Fatal(err)
	}
	b.do(enable(runtime.Enable), enable(log.Enable), enable(page.Enable), enable(network.Enable))
	b.Size(width, height)
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, what := range b.wrong {
			t.Error(what)
		}
	})
	return b
}

// chromium returns the path of the browser.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("PEX_E2E_CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium: apt-get install chromium, or name one in PEX_E2E_CHROMIUM")
	return ""
}

// enable returns the action that has a domain of the protocol send its events.
func enable[P any](command cdp.Command[P, cdp.Empty]) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		var none P
		_, err := cdp.Call(ctx, t, command, none)
		return err
	})
}

func (b *Tab) record(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		text := "exception: " + ev.ExceptionDetails.Text
		if e := ev.ExceptionDetails.Exception; e != nil && e.Description != "" {
			text += " " + e.Description
		}
		b.wrong, b.faults = append(b.wrong, text), append(b.faults, text)
	case *runtime.EventConsoleAPICalled:
		b.faults = append(b.faults, "console: "+string(ev.Type))
	case *log.EventEntryAdded:
		if b.faults = append(b.faults, ev.Entry.Text); strings.Contains(ev.Entry.Text, "Content Security Policy") {
			b.wrong = append(b.wrong, ev.Entry.Text)
		}
	case *page.EventJavascriptDialogOpening:
		b.wrong, b.faults = append(b.wrong, "dialog: "+ev.Message), append(b.faults, "dialog: "+ev.Message)
	case *network.EventRequestWillBeSent:
		if url := ev.Request.URL; !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "about:") {
			b.requests = append(b.requests, url)
			if !strings.HasPrefix(url, b.origin) {
				b.wrong = append(b.wrong, "request to "+url)
			}
		}
	}
}

// Faults returns the exceptions, the dialogs and everything that the console shows since the
// last Visit, one per line.
func (b *Tab) Faults() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.faults, "\n")
}

// Requests returns the URLs that were requested since the last Visit.
func (b *Tab) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.requests...)
}

func (b *Tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, end := context.WithTimeout(b, timeout)
	defer end()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("%v; page: %.3000s", err, b.body())
	}
}

// body returns the content of the page, for messages.
func (b *Tab) body() string {
	ctx, end := context.WithTimeout(b, time.Second)
	defer end()
	html, _ := chromedp.Run(ctx, chromedp.OuterHTML(chromedp.CSS("body"))) // best effort
	return html
}

// Visit opens a URL and waits until it is loaded.
func (b *Tab) Visit(url string) {
	b.t.Helper()
	b.mu.Lock()
	b.faults, b.requests = nil, nil
	b.mu.Unlock()
	b.do(chromedp.Navigate(url))
}

// Eval evaluates JavaScript, awaits it if it is a promise, and stores its value; value may be nil.
func (b *Tab) Eval(source string, value any) {
	b.t.Helper()
	if err := b.eval(source, value); err != nil {
		b.t.Fatalf("%.300s: %v", source, err)
	}
}

func (b *Tab) eval(source string, value any) error {
	ctx, end := context.WithTimeout(b, timeout)
	defer end()
	if value == nil {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](source, chromedp.EvalAwaitPromise))
		return err
	}
	raw, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](source, chromedp.EvalAwaitPromise))
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	return d.Decode(value)
}

// Value returns the value of an expression.
func Value[T any](b *Tab, expression string) (value T) {
	b.t.Helper()
	b.Eval(expression, &value)
	return value
}

// Await waits until an expression is true, also while the page changes.
func (b *Tab) Await(expression string) {
	b.t.Helper()
	for end := time.Now().Add(timeout); ; time.Sleep(20 * time.Millisecond) {
		var ok bool
		err := b.eval("!!("+expression+")", &ok)
		switch {
		case ok && err == nil:
			return
		case time.Now().After(end):
			b.t.Fatalf("%s is not true: %v %s; page: %.3000s", expression, err, b.Faults(), b.body())
		}
	}
}
