package page

import (
	"html"
	"strings"
)

// hiddenElements are the elements whose content is removed.
var hiddenElements = map[string]bool{
	"script": true, "style": true, "noscript": true, "template": true, "svg": true,
	"iframe": true, "object": true, "canvas": true, "math": true,
}

// breaks are the elements that start a line (1) or a paragraph (2).
var breaks = map[string]int{
	"p": 2, "blockquote": 2, "section": 2, "article": 2, "table": 2, "ul": 2, "ol": 2, "dl": 2, "hr": 2,
	"div": 1, "tr": 1, "dt": 1, "dd": 1, "header": 1, "footer": 1, "nav": 1, "main": 1, "aside": 1,
	"form": 1, "option": 1, "figure": 1, "figcaption": 1, "caption": 1, "body": 1, "head": 1, "address": 1,
}

// tag is one start or end tag.
type tag struct {
	name  string // in lower case
	end   bool
	attrs string // as written
}

// parseTag reads a tag at the start of s. A '>' in a quoted value does not end it. An
// unterminated tag extends to the end of the page, as in a browser.
func parseTag(s string) (t tag, rest string, ok bool) {
	i := 1
	if t.end = strings.HasPrefix(s, "</"); t.end {
		i = 2
	}
	from := i
	for i < len(s) && isLetter(s[i]) {
		i++
	}
	if i == from || isLetter(s[from]) && s[from] <= '9' {
		return tag{}, "", false
	}
	t.name = strings.ToLower(s[from:i])
	from = i
	for quote := byte(0); i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.HasSuffix(strings.TrimRight(s[from:i], " \t\r\n"), "="):
			quote = c
		case c == '>':
			t.attrs = s[from:i]
			return t, s[i+1:], true
		}
	}
	return t, "", true
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == ':'
}

// attr returns the value of an attribute, or "".
func (t tag) attr(name string) string {
	s := t.attrs
	for s != "" {
		s = strings.TrimLeft(s, " \t\r\n/")
		end := strings.IndexAny(s, "= \t\r\n/")
		if end < 0 {
			return ""
		}
		key, value := s[:end], ""
		s = strings.TrimLeft(s[end:], " \t\r\n")
		if strings.HasPrefix(s, "=") {
			value, s = attrValue(strings.TrimLeft(s[1:], " \t\r\n"))
		}
		if strings.EqualFold(key, name) {
			return html.UnescapeString(value)
		}
	}
	return ""
}

func attrValue(s string) (value, rest string) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		value, rest, _ = strings.Cut(s[1:], s[:1])
		return value, rest
	}
	if end := strings.IndexAny(s, " \t\r\n"); end >= 0 {
		return s[:end], s[end:]
	}
	return s, ""
}

// skip skips the content of an element up to its end tag.
func skip(s, name string) string {
	for {
		at := strings.Index(s, "</")
		if at < 0 {
			return ""
		}
		s = s[at+2:]
		if len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) && (len(s) == len(name) || !isLetter(s[len(name)])) {
			return cutAfter(s, ">")
		}
	}
}

func cutAfter(s, mark string) string {
	if _, rest, ok := strings.Cut(s, mark); ok {
		return rest
	}
	return ""
}
