//go:build e2e

package browsertest

// LowContrast returns the visible texts of the page whose contrast is below the 4.5 to 1 that
// WCAG 2 AA requires, each with its contrast. Texts in pictures are not included.
func (b *Tab) LowContrast() []string {
	b.t.Helper()
	return Value[[]string](b, contrast)
}

const contrast = `(() => {
  const rgba = (s) => { const v = s.match(/[\d.]+/g).map(Number); return v.length < 4 ? [...v, 1] : v; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
  const poor = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.checkVisibility() || e.closest("svg, script, button:disabled, .skip")) continue;
    const a = light(rgba(getComputedStyle(e).color)), z = light(ground(e));
    const ratio = (Math.max(a, z) + 0.05) / (Math.min(a, z) + 0.05);
    if (ratio < 4.5) poor.add(ratio.toFixed(2) + " " + e.tagName + "." + e.className + " " + n.data.slice(0, 30));
  }
  return [...poor];
})()`
