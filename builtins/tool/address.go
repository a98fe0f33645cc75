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

// A mark stands for a value while an address is filled: its number between two
// characters of Unicode's private use.
const openMark, shutMark = "\uE000", "\uE001"

var mark = text.Regexp(openMark + `(\d+)` + shutMark)

// place is an address of the author's with references. A value of a model or a
// user stays within one segment of the path or one part of the query; only the
// environment, which is the author's, may say which server is asked.
type place struct {
	template component.Template
	optional []string // arguments that have a default
}

func newPlace(t component.Template) place {
	return place{template: t, optional: source{text: t.Text}.optional()}
}

// fill is the address with the values that look finds.
func (p place) fill(look component.Lookup) (*url.URL, error) {
	text, values, err := p.marked(look)
	if err != nil {
		return nil, err
	}
	end := authority(text)
	if mark().MatchString(text[:end]) {
		return nil, errChosenHost
	}
	path, rest := text[end:], ""
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path, rest = path[:i], path[i:]
	}
	if err := segments(path, values); err != nil {
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
	errNoAddress  = errors.New("url is no http or https address")
	errUserInfo   = errors.New("url has a user name in it")
)

// marked renders the template with marks in place of values.
func (p place) marked(look component.Lookup) (text string, values []string, err error) {
	text = p.template.Render(func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		switch {
		case !ok || v == nil:
			if err == nil && !p.defaulted(ns, name) {
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

// defaulted says whether a reference that has no value has a default.
func (p place) defaulted(ns, name string) bool {
	if ns != "args" {
		return regexp.MustCompile(ns + `\s*\.\s*` + regexp.QuoteMeta(name) + `[^}>]*:-`).MatchString(p.template.Text)
	}
	top, _, _ := strings.Cut(name, ".")
	top, _, _ = strings.Cut(top, "[")
	return slices.Contains(p.optional, top)
}

// authority is where the part of an address ends that names the server.
func authority(s string) int {
	from := 0
	if i := strings.IndexAny(s, `/?#\`); i > 0 && s[i-1] == ':' && strings.HasPrefix(s[i:], "//") {
		from = i + len("//")
	}
	if i := strings.IndexAny(s[from:], `/?#\`); i >= 0 {
		return from + i
	}
	return len(s)
}

// segments refuses values with which a path would have other parts than its
// author wrote, also for servers that unescape before they look.
func segments(path string, values []string) error {
	for segment := range strings.SplitSeq(path, "/") {
		marks := mark().FindAllString(segment, -1)
		for _, m := range marks {
			if v := valueOf(m, values); strings.ContainsFunc(v, splits) {
				return fmt.Errorf("%q cannot be a part of the address's path: it holds a slash, a backslash or a control character", clip(v))
			}
		}
		plain, err := url.PathUnescape(segment)
		if err != nil {
			plain = segment
		}
		plain = mark().ReplaceAllStringFunc(plain, func(m string) string { return valueOf(m, values) })
		if s := strings.TrimSpace(plain); len(marks) > 0 && (s == "" || s == "." || s == "..") {
			return fmt.Errorf("%q cannot be a part of the address's path", plain)
		}
	}
	return nil
}

func splits(r rune) bool { return r == '/' || r == '\\' || r < ' ' || r == 0x7f }

// valueOf is the value that a mark stands for.
func valueOf(m string, values []string) string {
	i, err := strconv.Atoi(m[len(openMark) : len(m)-len(shutMark)])
	if err != nil || i >= len(values) {
		return ""
	}
	return values[i]
}

// escapeMarks puts values in place of marks: nothing in one can end its part.
func escapeMarks(s string, values []string) string {
	return mark().ReplaceAllStringFunc(s, func(m string) string {
		return strings.ReplaceAll(url.QueryEscape(valueOf(m, values)), "+", "%20")
	})
}
