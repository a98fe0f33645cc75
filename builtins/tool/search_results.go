package tool

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

const (
	maxSnippet = 1000 // bytes of an extract that are shown
	maxLink    = 2048 // bytes of an address; half of a longer one leads nowhere
)

// pageFound is one result of a search.
type pageFound struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

// The names that search services give to the parts of a result.
var (
	titles   = []string{"title", "name"}
	links    = []string{"url", "link", "href"}
	snippets = []string{"snippet", "description", "content", "text"}
)

// read makes a list of what a search service answered.
func (t *webSearch) read(out *tool.Output, args webSearchArgs, call *tool.Call) (*tool.Output, error) {
	source := []byte(cmp.Or(string(out.Data), out.Text))
	var answered any
	if err := jsontemplate.Decode(source, &answered); err != nil {
		return nil, errors.New("the search service gave no JSON: " + clip(string(source)))
	}
	list, err := t.list(answered)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	missing := len(list) == 0
	if len(list) == 1 {
		if inner, ok := list[0].([]any); ok {
			list = inner
		}
	}
	at, err := t.ask.place.fill(lookup(call, t.ask.env))
	if err != nil {
		return nil, err
	}
	found := make([]pageFound, 0, len(list))
	for _, result := range list {
		if p := t.engine.page(result, at); p.Title+p.URL != "" && len(found) < args.Count {
			found = append(found, p)
		}
	}
	data, err := jsonvalue.Marshal(found)
	if err != nil {
		return nil, err
	}
	text := numbered(found)
	if len(found) == 0 {
		text, err = t.nothing(args.Query, answered, missing)
	}
	return &tool.Output{Text: text, Data: data}, err
}

// page is one result; at is the address that was asked.
func (e searchEngine) page(result any, at *url.URL) pageFound {
	fields, ok := result.(map[string]any)
	if !ok {
		return pageFound{}
	}
	p := pageFound{
		Title:   plain(field(e.title, fields, titles)),
		URL:     webAddress(field(e.link, fields, links), at),
		Snippet: plain(field(e.snippet, fields, snippets)),
	}
	if id, ok := fields["pageid"]; ok && p.URL == "" { // MediaWiki names pages by number
		p.URL = webAddress("/?curid="+jsontemplate.Text(id), at)
	}
	return p
}

// field is what a path selects of a result, else the first of its names that says something.
func field(path component.FilterRef, fields map[string]any, names []string) string {
	if !path.IsZero() {
		found, err := path.Apply(fields)
		if err != nil || len(found) == 0 || found[0] == nil {
			return ""
		}
		return jsontemplate.Text(found[0])
	}
	for _, name := range names {
		if s, ok := fields[name].(string); ok && strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// webAddress is a link as a whole web address, or "": also of one with a user
// name, which shows another host than it leads to, and of one too long to show.
func webAddress(link string, at *url.URL) string {
	link = strings.TrimSpace(link)
	u, err := at.Parse(link)
	if link == "" || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	if whole := u.String(); len(whole) <= maxLink {
		return whole
	}
	return ""
}

// emphasis is the markup that services put around the words that were searched.
var emphasis = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)</?(?:a|b|code|em|i|mark|small|span|strong|sub|sup|u|wbr)(?:\s[^<>]*)?/?>`)
})

// lineEnds is the markup that parts words.
var lineEnds = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)</?(?:br|dd|div|dl|dt|h[1-6]|hr|li|ol|p|pre|table|td|th|tr|ul)(?:\s[^<>]*)?/?>`)
})

// plain is a text without markup, on one line, and not too long.
func plain(s string) string {
	s = lineEnds().ReplaceAllString(emphasis().ReplaceAllString(s, ""), " ")
	return text.Clip(text.OneLine(html.UnescapeString(s)), maxSnippet)
}

// numbered is results as a list to read.
func numbered(found []pageFound) string {
	var out strings.Builder
	for i, p := range found {
		fmt.Fprintf(&out, "%d. %s\n", i+1, cmp.Or(p.Title, p.URL))
		for _, line := range []string{p.URL, p.Snippet} {
			if line != "" && line != cmp.Or(p.Title, p.URL) {
				fmt.Fprintf(&out, "   %s\n", line)
			}
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// nothing says that there are no results, and why if the service says so.
func (t *webSearch) nothing(query string, answered any, missing bool) (string, error) {
	text := fmt.Sprintf("No results for %q; try other or fewer words.", clip(query))
	fields, _ := answered.(map[string]any)
	switch said := fields["error"].(type) {
	case string:
		return text + " The service says: " + plain(said), nil
	case map[string]any:
		why := field(component.FilterRef{}, said, []string{"info", "message", "detail", "code"})
		return "", errors.New("the search service says: " + plain(cmp.Or(why, jsontemplate.Text(said))))
	}
	if silent, ok := fields["unresponsive_engines"].([]any); ok && len(silent) > 0 {
		return text + " Engines that did not answer: " + clip(jsontemplate.Text(silent)), nil
	}
	if missing && t.where != "" {
		text += " The answer has nothing at " + t.where + "."
	}
	return text, nil
}
