package graph

import (
	"fmt"
	"strings"
	"unicode"
)

// Style is the style sheet in SVG pictures. It has no variables, since not every
// viewer supports them. Pages that embed a picture allow it in their content
// security policy.
const Style = `
.pex text{font-family:ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif;font-size:14px;fill:#1f2328;text-anchor:middle}
.pex .paper{fill:#ffffff}
.pex text.title{font-size:15px;font-weight:600;text-anchor:start}
.pex text.caption{font-size:13px;text-anchor:start;fill:#57606a}
.pex .node rect,.pex .terminal rect{fill:#f6f8fa;stroke:#8c959f;stroke-width:1.2}
.pex .name{font-weight:600}
.pex text.type{font-size:12px;fill:#57606a}
.pex text.note{font-size:12px;fill:#57606a}
.pex text.model{fill:#1f2328}
.pex text.question{font-style:italic;fill:#1f2328}
.pex text.note.guard,.pex text.approval{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:11px;fill:#9a6700}
.pex .chip rect{fill:#ffffff;stroke:#d0d7de;stroke-width:1}
.pex .chip.locked rect{fill:#fff8c5;stroke:#d4a72c}
.pex text.tool{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:11px}
.pex .lock{fill:none;stroke:#9a6700;stroke-width:1.3}
.pex .edge{fill:none;stroke:#6e7781;stroke-width:1.4}
.pex .jump{stroke-dasharray:5 4}
.pex .tip{fill:#6e7781}
.pex .label rect{fill:#ffffff;fill-opacity:.92}
.pex text.guard,.pex text.times,.pex text.count{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:11px}
.pex text.guard{fill:#424a53}
.pex text.times{font-weight:700;fill:#0550ae}
.pex .visited>rect{fill:#ddf4ff;stroke:#0969da;stroke-width:1.8}
.pex .at>rect{stroke-width:3.4}
.pex .unseen{opacity:.55}
.pex .label.unseen{opacity:1}
.pex .label.unseen text{opacity:.6}
.pex .edge.taken{stroke:#0969da;stroke-width:2.6}
.pex .tip.taken{fill:#0969da}
.pex .visited>rect.badge{fill:#0969da;stroke:none}
.pex text.count{fill:#ffffff;font-weight:700}
@media (prefers-color-scheme:dark){
.pex text{fill:#e6edf3}
.pex .paper{fill:#0d1117}
.pex text.caption,.pex text.type,.pex text.note{fill:#9198a1}
.pex text.model,.pex text.question{fill:#e6edf3}
.pex text.note.guard,.pex text.approval{fill:#d29922}
.pex .chip rect{fill:#0d1117;stroke:#3d444d}
.pex .chip.locked rect{fill:#2e2411;stroke:#9e6a03}
.pex .lock{stroke:#d29922}
.pex .node rect,.pex .terminal rect{fill:#161b22;stroke:#6e7681}
.pex .edge{stroke:#8b949e}
.pex .tip{fill:#8b949e}
.pex .label rect{fill:#0d1117}
.pex text.guard{fill:#c9d1d9}
.pex text.times{fill:#79c0ff}
.pex .visited>rect{fill:#0c2d6b;stroke:#58a6ff}
.pex .edge.taken{stroke:#58a6ff}
.pex .tip.taken{fill:#58a6ff}
.pex .visited>rect.badge{fill:#58a6ff}
.pex text.count{fill:#0d1117}
}
`

// wrap breaks a text into at most most lines of the given width, at spaces where
// possible, and drops the rest. An empty text has no lines.
func wrap(text string, columns, most int) []string {
	var lines []string
	line, wide := "", 0
	end := func() {
		if line != "" {
			lines = append(lines, line)
		}
		line, wide = "", 0
	}
	for word := range strings.FieldsSeq(clip(text, columns*(most+1))) {
		if w := width(word); wide > 0 && wide+1+w > columns {
			end()
		}
		if wide > 0 {
			line, wide = line+" ", wide+1
		}
		for _, r := range word {
			w := columnsOf(r)
			if wide+w > columns {
				end()
			}
			line, wide = line+string(r), wide+w
		}
	}
	end()
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = strings.TrimRight(lines[most-1], " ") + "…"
	}
	return lines
}

// clip returns the first most characters of a text without control, bidi and zero-width
// characters.
func clip(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > most {
			return b.String() + "…"
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			r = ' '
		case unicode.Is(unicode.C, r) || r == unicode.ReplacementChar || r&0xFFFE == 0xFFFE:
			r = '\uFFFD'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(text)
}

// width returns the number of columns of a text.
func width(text string) int {
	n := 0
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func widest(lines []string) float64 {
	n := 0
	for _, l := range lines {
		n = max(n, width(l))
	}
	return float64(n)
}

// columnsOf returns 2 for wide East Asian characters and emoji, else 1.
func columnsOf(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && r <= 0x115F, r >= 0x2E80 && r <= 0xA4CF, r >= 0xAC00 && r <= 0xD7A3, r >= 0xF900 && r <= 0xFAFF,
		r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF00 && r <= 0xFF60, r >= 0xFFE0 && r <= 0xFFE6, r >= 0x1F300 && r <= 0x1FAFF, r >= 0x20000 && r <= 0x3FFFD:
		return 2
	}
	return 1
}

// description returns a description of the graph for screen readers.
func (d *Drawing) description() string {
	const most = 4000
	var b strings.Builder
	fmt.Fprintf(&b, "It starts at %s.", clip(d.start, 80))
	for _, n := range d.nodes {
		var notes []string
		for _, text := range noteTexts(n.notes, approvalText) {
			notes = append(notes, clip(text, 200))
		}
		if len(notes) > 0 {
			fmt.Fprintf(&b, " %s: %s.", clip(n.ID, 80), strings.Join(notes, "; "))
		}
	}
	for _, e := range d.edges {
		fmt.Fprintf(&b, " From %s to %s", clip(e.from, 80), clip(e.to, 80))
		if e.label != "" {
			b.WriteString(" when " + clip(e.label, 200))
		}
		if e.count > 0 {
			b.WriteString(", taken " + times(e.count))
		}
		b.WriteString(".")
	}
	if s := d.statusText(); s != "" {
		b.WriteString(" The walk: " + clip(s, 300) + ".")
	}
	return clip(b.String(), most)
}
