package page

import (
	"html"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// Text converts a page to text. base resolves links; if it is nil, links are left
// unchanged.
func Text(source string, base *url.URL) (title, body string) {
	r := reader{base: base}
	for len(source) > 0 {
		at := strings.IndexByte(source, '<')
		if at < 0 {
			r.text(source)
			break
		}
		r.text(source[:at])
		source = r.markup(source[at:])
	}
	r.endLink()
	return text.OneLine(r.title.String()), tidy(r.out.String())
}

// reader is the state of one pass.
type reader struct {
	base      *url.URL
	out       strings.Builder
	title     strings.Builder
	inside    struct{ title, pre bool }
	link      string // target of the open link
	linkStart int    // where its text starts in out
	space     bool   // a space is needed before the next word
}

// markup reads a tag, comment or stray angle bracket at the start of s and returns the
// rest.
func (r *reader) markup(s string) string {
	switch {
	case strings.HasPrefix(s, "<!--"):
		return cutAfter(s[4:], "-->")
	case strings.HasPrefix(s, "<!"), strings.HasPrefix(s, "<?"):
		return cutAfter(s, ">")
	}
	t, rest, ok := parseTag(s)
	if !ok {
		r.text("<")
		return s[1:]
	}
	if !t.end && hiddenElements[t.name] {
		return skip(rest, t.name)
	}
	r.tag(t)
	return rest
}

// tag handles one tag.
func (r *reader) tag(t tag) {
	switch t.name {
	case "title":
		r.inside.title = !t.end && r.title.Len() == 0
	case "pre":
		r.inside.pre = !t.end
		r.newline(1)
	case "a":
		r.endLink()
		if !t.end {
			r.link, r.linkStart = r.target(t.attr("href")), r.out.Len()
		}
	case "img":
		r.text(" " + t.attr("alt") + " ")
	case "br":
		r.out.WriteByte('\n')
		r.space = false
	case "li":
		if !t.end {
			r.newline(1)
			r.out.WriteString("- ")
		}
	case "td", "th":
		if t.end {
			r.out.WriteString(" | ")
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.newline(2)
		if !t.end {
			r.out.WriteString(strings.Repeat("#", int(t.name[1]-'0')) + " ")
		}
	default:
		if n := breaks[t.name]; n > 0 {
			r.newline(n)
		}
	}
}

// text writes text between tags.
func (r *reader) text(s string) {
	if s == "" {
		return
	}
	s = html.UnescapeString(s)
	switch {
	case r.inside.title:
		r.title.WriteString(s)
		return
	case r.inside.pre:
		r.out.WriteString(s)
		return
	}
	fields := strings.Fields(s)
	if len(fields) == 0 || strings.TrimLeft(s, " \t\r\n\u00a0") != s {
		r.space = true
	}
	if len(fields) == 0 {
		return
	}
	if r.space && r.out.Len() > 0 {
		r.out.WriteByte(' ')
	}
	r.out.WriteString(strings.Join(fields, " "))
	r.space = strings.TrimRight(s, " \t\r\n\u00a0") != s
}

// newline ends the current line, if it has text. If n is 2, an empty line follows.
func (r *reader) newline(n int) {
	for !strings.HasSuffix(r.out.String(), "\n\n"[:n]) && r.out.Len() > 0 {
		r.out.WriteByte('\n')
	}
	r.space = false
}

// target returns the link to show, or "".
func (r *reader) target(href string) string {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil || href == "" || strings.HasPrefix(href, "#") {
		return ""
	}
	if r.base != nil {
		u = r.base.ResolveReference(u)
	}
	switch u.Scheme {
	case "http", "https", "mailto", "":
		return u.String()
	}
	return ""
}

// endLink writes the target after the text of a link, if it has text.
func (r *reader) endLink() {
	if r.link != "" && strings.TrimSpace(r.out.String()[r.linkStart:]) != "" {
		r.out.WriteString(" (" + r.link + ")")
	}
	r.link = ""
}

// tidy trims lines and collapses empty lines.
func tidy(s string) string {
	var out strings.Builder
	empty := 0
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSuffix(strings.TrimRight(line, " \t\r"), " |")
		if strings.TrimSpace(line) == "" || strings.TrimSpace(line) == "-" {
			empty++
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n\n"[:min(empty+1, 2)])
		}
		empty = 0
		out.WriteString(line)
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}
