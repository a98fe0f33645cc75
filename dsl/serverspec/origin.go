package serverspec

import (
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/text"
)

var originForm = text.Regexp(language.OriginPattern)

// origins checks the origins of web pages.
func (b *compiler) origins() {
	b.config.Origins = b.keys.CORS.Origins
	for i, s := range b.keys.CORS.Origins {
		v := b.tree.Get("cors").Get("origins").Items[i]
		switch {
		case !originForm().MatchString(s) || originHint(s) != "":
			b.Report.Error(diag.BadOrigin, v.Position, "invalid origin %s", syntax.Quote(s)).Hint = originHintOr(s, "write scheme://host or scheme://host:port, such as https://chat.example.com")
		case slices.Index(b.keys.CORS.Origins, s) < i:
			b.Report.Warn(diag.Unused, v.Position, "origin %s is listed twice", s).Hint = "remove one of them"
		}
	}
}

// publicURL checks the origin by which clients reach the server.
func (b *compiler) publicURL() {
	s := b.keys.PublicURL
	v := b.tree.Get("public_url")
	if v == nil || s == "" {
		return
	}
	if !originForm().MatchString(s) {
		b.Report.Error(diag.BadOrigin, v.Position, "invalid origin %s in public_url", syntax.Quote(s)).Hint = originHintOr(s, "write scheme://host or scheme://host:port, such as https://agents.example.com")
		return
	}
	b.config.PublicURL = s
}

func originHintOr(s, otherwise string) string {
	if hint := originHint(s); hint != "" {
		return hint
	}
	return otherwise
}

// originHint returns how to write an origin that no browser sends in this form, or
// "".
func originHint(s string) string {
	u, err := url.Parse(s)
	switch {
	case strings.Contains(s, "*"):
		return "an origin has no wildcard; list each origin"
	case s == "null":
		return "pages of local files have no origin that can be allowed; serve the page from http://localhost:PORT"
	case err != nil || u.Host == "" && !strings.Contains(s, ":"):
		if err == nil && s != "" && originForm().MatchString("https://"+s) {
			return "add the scheme: https://" + s
		}
		return ""
	case u.Scheme != "http" && u.Scheme != "https":
		return ""
	case u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "":
		return "an origin has no path: " + u.Scheme + "://" + u.Host
	case u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80":
		return "browsers omit the default port: " + u.Scheme + "://" + strings.TrimSuffix(u.Host, ":"+u.Port())
	case s != strings.ToLower(s):
		return "browsers send it in lower case: " + strings.ToLower(s)
	}
	return ""
}
