//go:build e2e

package uitest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a page in Chromium. It records what must not happen: errors, violations of the
// content security policy, dialogs, and requests to other hosts.
type tab struct {
	context.Context
	t      *testing.T
	mu     sync.Mutex
	wrong  []string
	clicks int
}

func open(t *testing.T, s *server, width, height int) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("install Chromium: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(width, height),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	b := &tab{Context: ctx, t: t}
	if err := chromedp.Listen(ctx, func(ev any) { b.record(s, ev) }); err != nil {
		t.Fatal(err)
	}
	b.do(enable(runtime.Enable), enable(log.Enable), enable(page.Enable), enable(network.Enable))
	t.Cleanup(func() {
		for _, what := range b.problems() {
			t.Error(what)
		}
	})
	return b
}

// enable returns the action that has a domain of the protocol send its events.
func enable[P any](command cdp.Command[P, cdp.Empty]) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		var none P
		_, err := cdp.Call(ctx, t, command, none)
		return err
	})
}

func (b *tab) record(s *server, ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.wrong = append(b.wrong, "exception: "+ev.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if strings.Contains(ev.Entry.Text, "Content Security Policy") {
			b.wrong = append(b.wrong, ev.Entry.Text)
		}
	case *page.EventJavascriptDialogOpening:
		b.wrong = append(b.wrong, "dialog: "+ev.Message)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(ev.Request.URL, s.url("/")) && !strings.HasPrefix(ev.Request.URL, "data:") && !strings.HasPrefix(ev.Request.URL, "about:") {
			b.wrong = append(b.wrong, "request to "+ev.Request.URL)
		}
	}
}

func (b *tab) problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wrong
}

// timeout limits each action.
const timeout = 30 * time.Second

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, end := context.WithTimeout(b, timeout)
	defer end()
	if err := chromedp.Do(ctx, actions...); err != nil {
		html, _ := chromedp.Run(b, chromedp.OuterHTML(chromedp.CSS("body"))) // for the message
		b.t.Fatalf("%v; page: %.3000s", err, html)
	}
}

func (b *tab) visit(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
}

// click clicks an element, and counts it.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.clicks++
	b.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// write types a text into an element.
func (b *tab) write(selector, text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatal(expression, err)
	}
	return value
}

// await waits until an expression is true, also while the page changes.
func (b *tab) await(expression string) {
	b.t.Helper()
	for end := time.Now().Add(timeout); ; time.Sleep(50 * time.Millisecond) {
		ok, err := chromedp.Run(b, chromedp.Evaluate[bool](expression))
		switch {
		case ok && err == nil:
			return
		case time.Now().After(end):
			html, _ := chromedp.Run(b, chromedp.OuterHTML(chromedp.CSS("body"))) // for the message
			b.t.Fatalf("%s: %v; page: %.3000s", expression, err, html)
		}
	}
}

// shoot writes screenshots in light and dark to the folder SCREENSHOTS, if it is set.
func (b *tab) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	b.await(`document.readyState === "complete"`)
	for _, scheme := range []string{"light", "dark"} {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		if _, err := chromedp.Call(b, emulation.SetEmulatedMedia, media); err != nil {
			b.t.Fatal(err)
		}
		picture, err := chromedp.Run(b, chromedp.FullScreenshot(100))
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+"-"+scheme+".png"), picture, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
}
