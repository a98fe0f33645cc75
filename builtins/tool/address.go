package tool

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/text"
)

// A mark is a placeholder for a value while a URL is rendered: the index of the value
// between two private-use Unicode characters.
const openMark, shutMark = "\uE000", "\uE001"

var mark = text.Regexp(openMark + `(\d+)` + shutMark)

// urlTemplate is a URL with references, written by the author. A value from the model or
// the user stays within one path segment or one query parameter. Only the environment,
// which the author controls, may determine the server.
type urlTemplate struct {
	template component.Template
	optional []string // arguments that have a default
}

func newURLTemplate(t component.Template) urlTemplate {
	return urlTemplate{template: t, optional: source{text: t.Text}.optional()}
}

// fill returns the URL with the values that look returns.
func (p urlTemplate) fill(look component.Lookup) (*url.URL, error) {
	text, values, err := p.renderMarked(look)
	if err != nil {
		return nil, err
	}
	end := authorityEnd(text)
	if mark().MatchString(text[:end]) {
		return nil, errChosenHost
	}
	path, rest := text[end:], ""
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path, rest = path[:i], path[i:]
	}
	if err := checkSegments(path, values); err != nil {
		return nil, err
	}
	u, err := url.Parse(text[:end] + escapeMarks(path+rest, values))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errNoAddress
	}
	if u.User != nil {
		return nil, errUserInfo
	}
	return u, nil
}

var (
	errChosenHost = errors.New("url lets arguments or parameters choose the server")
	errNoAddress  = errors.New("url is not an http or https address")
	errUserInfo   = errors.New("url contains a user name")
)

// renderMarked renders the template with marks in place of values.
func (p urlTemplate) renderMarked(look component.Lookup) (text string, values []string, err error) {
	text = p.template.Render(func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		switch {
		case !ok || v == nil:
			if err == nil && !p.hasDefault(ns, name) {
				err = fmt.Errorf("url needs ${%s.%s}, which has no value", ns, name)
			}
			return nil, false
		case ns == "env":
			return v, true
		}
		values = append(values, strings.ToValidUTF8(jsontemplate.Text(v), "\uFFFD"))
		return openMark + strconv.Itoa(len(values)-1) + shutMark, true
	})
	return text, values, err
}

// hasDefault reports whether the reference has a default.
func (p urlTemplate) hasDefault(ns, name string) bool {
	if ns != "args" {
		return regexp.MustCompile(ns + `\s*\.\s*` + regexp.QuoteMeta(name) + `[^}>]*:-`).MatchString(p.template.Text)
	}
	top, _, _ := strings.Cut(name, ".")
	top, _, _ = strings.Cut(top, "[")
	return slices.Contains(p.optional, top)
}

// authorityEnd returns the index where the server part of a URL ends.
func authorityEnd(s string) int {
	from := 0
	if i := strings.IndexAny(s, `/?#\`); i > 0 && s[i-1] == ':' && strings.HasPrefix(s[i:], "//") {
		from = i + len("//")
	}
	if i := strings.IndexAny(s[from:], `/?#\`); i >= 0 {
		return from + i
	}
	return len(s)
}

// checkSegments returns an error if a value would change the structure of the path, even
// for servers that unescape before they split it.
func checkSegments(path string, values []string) error {
	for segment := range strings.SplitSeq(path, "/") {
		marks := mark().FindAllString(segment, -1)
		for _, m := range marks {
			if v := valueOf(m, values); strings.ContainsFunc(v, isSeparator) {
				return fmt.Errorf("%q cannot be part of the URL path: it contains a slash, a backslash or a control character", clip(v))
			}
		}
		plain, err := url.PathUnescape(segment)
		if err != nil {
			plain = segment
		}
		plain = mark().ReplaceAllStringFunc(plain, func(m string) string { return valueOf(m, values) })
		if s := strings.TrimSpace(plain); len(marks) > 0 && (s == "" || s == "." || s == "..") {
			return fmt.Errorf("%q cannot be part of the URL path", plain)
		}
	}
	return nil
}

func isSeparator(r rune) bool { return r == '/' || r == '\\' || r < ' ' || r == 0x7f }

// valueOf returns the value that a mark represents.
func valueOf(m string, values []string) string {
	i, err := strconv.Atoi(m[len(openMark) : len(m)-len(shutMark)])
	if err != nil || i >= len(values) {
		return ""
	}
	return values[i]
}

// escapeMarks replaces marks with escaped values that cannot end their part of the URL.
func escapeMarks(s string, values []string) string {
	return mark().ReplaceAllStringFunc(s, func(m string) string {
		return strings.ReplaceAll(url.QueryEscape(valueOf(m, values)), "+", "%20")
	})
}
