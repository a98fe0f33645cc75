//go:build e2e

package browsertest

import (
	"os"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
)

// Memory returns the bytes of JavaScript that the page uses after a garbage collection, and the
// number of its DOM nodes.
func (b *Tab) Memory() (heap, nodes int) {
	b.t.Helper()
	b.do(enable(heapprofiler.CollectGarbage), enable(performance.Enable))
	metrics, err := chromedp.Call(b, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range metrics.Metrics {
		switch m.Name {
		case "JSHeapUsedSize":
			heap = int(m.Value)
		case "Nodes":
			nodes = int(m.Value)
		}
	}
	return heap, nodes
}

// Process returns the memory of the process that shows the page, which it shares with none, in
// bytes; 0 = unknown, as on systems other than Linux.
func (b *Tab) Process() (bytes int) {
	b.t.Helper()
	res, err := chromedp.CallBrowser(b, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, p := range res.ProcessInfo {
		if p.Type != "renderer" {
			continue
		}
		text, _ := os.ReadFile("/proc/" + strconv.FormatInt(p.ID, 10) + "/smaps_rollup") // best effort
		size := 0
		for line := range strings.Lines(string(text)) {
			if name, rest, _ := strings.Cut(line, ":"); strings.HasPrefix(name, "Private_") {
				kb, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
				size += kb << 10
			}
		}
		bytes = max(bytes, size)
	}
	return bytes
}

// Frames are the animation frames of a page since WatchFrames.
type Frames struct {
	Count   int     `json:"count"`
	Longest float64 `json:"longest"` // milliseconds between two frames
	P95     float64 `json:"p95"`
	Work    float64 `json:"work"` // milliseconds of the longest task of the page's thread
}

// WatchFrames starts to measure the frames of the page.
func (b *Tab) WatchFrames() {
	b.t.Helper()
	b.Eval(`(() => {
		const f = globalThis.__frames = {gaps: [], work: 0, on: true};
		let last = performance.now();
		const tick = (now) => { f.gaps.push(now - last); last = now; if (f.on) requestAnimationFrame(tick); };
		requestAnimationFrame(tick);
		f.observer = new PerformanceObserver((list) => { for (const e of list.getEntries()) f.work = Math.max(f.work, e.duration); });
		f.observer.observe({type: "long-animation-frame"});
	})()`, nil)
}

// Frames returns the frames since WatchFrames, and stops measuring.
func (b *Tab) Frames() Frames {
	b.t.Helper()
	return Value[Frames](b, `(() => {
		const f = globalThis.__frames;
		f.on = false;
		f.observer.disconnect();
		const gaps = f.gaps.sort((a, b) => a - b);
		return {count: gaps.length, longest: gaps.at(-1), p95: gaps[Math.floor(gaps.length * 0.95)], work: f.work};
	})()`)
}
