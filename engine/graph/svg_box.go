package graph

import (
	"fmt"
	"strings"
)

// Sizes of the content of a box, in pixels, columns and lines.
const (
	noteColumns = 38
	noteLines   = 3
	maxRows     = 14 // of notes; the tooltip has the rest
	chipsWidth  = 260.0
	chipGap     = 6.0
	lockWidth   = 12.0
)

// boxLine is a line in a box: a text, or chips next to each other.
type boxLine struct {
	class  string
	text   string
	chips  []chip
	height float64
	width  float64
}

// chip is the name of a tool, with a padlock if its calls may need approval.
type chip struct {
	Note
	text  string
	width float64
}

// boxOf returns the lines of a box: the name, the type, the notes.
func boxOf(n drawnNode) []boxLine {
	var lines []boxLine
	for _, t := range wrap(n.ID, nodeColumns, 2) {
		lines = append(lines, textLine("name", t, 8, 18))
	}
	if n.Type != n.ID {
		for _, t := range wrap(n.Type, nodeColumns, 1) {
			lines = append(lines, textLine("type", t, 7, 18))
		}
	}
	rows := noteRows(n.notes)
	shown := min(len(rows), maxRows)
	for _, row := range rows[:shown] {
		lines = append(lines, rowLines(row)...)
	}
	if len(rows) > shown {
		lines = append(lines, textLine("note", fmt.Sprintf("… %d more", len(rows)-shown), 6.5, 16))
	}
	return lines
}

func textLine(class, text string, column, height float64) boxLine {
	return boxLine{class: class, text: text, width: float64(width(text)) * column, height: height}
}

func rowLines(row noteRow) (lines []boxLine) {
	if row.kind == ToolNote {
		return chipLines(row.notes)
	}
	for _, text := range row.lines(padlock) {
		for _, t := range wrap(text, noteColumns, noteLines) {
			lines = append(lines, textLine("note "+string(row.kind), t, 6.6, 16))
		}
	}
	return lines
}

// chipLines arranges chips in lines of at most chipsWidth.
func chipLines(tools []Note) (lines []boxLine) {
	line := boxLine{class: "chips", height: 24}
	for _, tool := range tools {
		c := chip{Note: tool, text: strings.Join(wrap(tool.Text, noteColumns-6, 1), "")}
		if c.width = float64(width(c.text))*6.7 + 14; tool.Approval != "" {
			c.width += lockWidth
		}
		if len(line.chips) > 0 && line.width+chipGap+c.width > chipsWidth {
			lines, line = append(lines, line), boxLine{class: "chips", height: 24}
		}
		if len(line.chips) > 0 {
			line.width += chipGap
		}
		line.chips, line.width = append(line.chips, c), line.width+c.width
	}
	return append(lines, line)
}

// content writes the lines of a box, centered.
func (s *svg) content(b box, lines []boxLine) {
	y := b.y
	for _, l := range lines {
		y -= l.height / 2
	}
	for _, l := range lines {
		if l.chips != nil {
			s.chips(b.x-l.width/2, y+3, l.chips)
		} else {
			s.text(l.class, b.x, y+l.height/2+5, l.text)
		}
		y += l.height
	}
}

func (s *svg) chips(x, y float64, chips []chip) {
	for _, c := range chips {
		tip, class := "tool "+c.Note.Text, "chip"
		if c.Approval != "" {
			tip, class = tip+", "+strings.Trim(approvalText(c.Note), "()"), "chip locked"
		}
		fmt.Fprintf(&s.b, `<g class="%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="18" rx="9"/>`+"\n", class, escape(clip(tip, maxTip)), px(x), px(y), px(c.width))
		left := x
		if c.Approval != "" {
			left += lockWidth
			fmt.Fprintf(&s.b, `<path class="lock" d="M%s %sv-2.2a2.3 2.3 0 0 1 4.6 0v2.2m-5.8 0h7v5.2h-7z"/>`+"\n", px(x+8.2), px(y+8))
		}
		s.text("tool", (left+x+c.width)/2, y+13, c.text)
		s.b.WriteString("</g>\n")
		x += c.width + chipGap
	}
}

// boxTip returns the tooltip of a box: its name and all its notes.
func (d *Drawing) boxTip(n drawnNode) string {
	var b strings.Builder
	b.WriteString(clip(d.nodeText(n), maxTip))
	for _, text := range noteTexts(n.notes, approvalText) {
		b.WriteString("\n" + clip(text, maxTip))
		if b.Len() > 4*maxTip {
			break
		}
	}
	return b.String()
}
