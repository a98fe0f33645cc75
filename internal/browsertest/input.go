//go:build e2e

package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Click clicks an element when it is visible, and counts the click.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Clicks++
	b.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Type types a text into an element.
func (b *Tab) Type(selector, text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Choose sets the value of a select element.
func (b *Tab) Choose(selector, value string) {
	b.t.Helper()
	b.do(chromedp.SetValue(chromedp.CSS(selector), value))
}

// keys are the keys that Key accepts by name.
var keys = map[string]string{
	"Enter": kb.Enter, "Escape": kb.Escape, "Tab": kb.Tab, "ArrowDown": kb.ArrowDown, "ArrowUp": kb.ArrowUp, "Space": " ",
	"Backspace": kb.Backspace, "Home": kb.Home, "End": kb.End,
}

// Key presses keys where the focus is: a key by its name, such as Enter or Shift+Tab, or
// otherwise each character of a text. A character is typed only if the page does not handle
// its key.
func (b *Tab) Key(name string) {
	b.t.Helper()
	plain, shift := strings.CutPrefix(name, "Shift+")
	if key, ok := keys[plain]; ok {
		plain = key
	}
	for _, r := range plain {
		var text string
		for _, k := range kb.Encode(r) {
			if k.Type == kb.KeyChar {
				text = k.Text
			}
		}
		for _, k := range kb.Encode(r) {
			if shift {
				k.Modifiers |= int64(chromedp.ModifierShift)
			}
			switch k.Type { //nolint:exhaustive // what Encode returns
			case kb.KeyDown:
				k.Text = text
			case kb.KeyChar:
				continue
			}
			if _, err := chromedp.Call(b, input.DispatchKeyEvent, *k); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// Texts returns the texts of the elements that match a selector.
func (b *Tab) Texts(selector string) []string {
	b.t.Helper()
	return Value[[]string](b, fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.innerText.trim())", selector))
}

// Size sets the size of the page in pixels.
func (b *Tab) Size(width, height int) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(int64(width), int64(height)))
}

// Scheme sets the color scheme that the user prefers, light or dark.
func (b *Tab) Scheme(name string) { b.t.Helper(); b.Media("prefers-color-scheme", name) }

// Media sets a media feature, and resets the others.
func (b *Tab) Media(feature, value string) {
	b.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: feature, Value: value}}}
	if _, err := chromedp.Call(b, emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
}

// Shoot writes screenshots in light and dark to the folder SCREENSHOTS, if it is set.
func (b *Tab) Shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	b.Await(`document.readyState === "complete"`)
	for _, scheme := range []string{"light", "dark"} {
		b.Scheme(scheme)
		picture, err := chromedp.Run(b, chromedp.FullScreenshot(100))
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+"-"+scheme+".png"), picture, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
}

// ClearCookies removes the cookies of the browser, as when they expire.
func (b *Tab) ClearCookies() {
	b.t.Helper()
	b.do(enable(network.ClearBrowserCookies))
}
