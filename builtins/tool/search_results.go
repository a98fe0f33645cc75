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
	maxSnippet = 1000 // bytes of a snippet to show
	maxLink    = 2048 // bytes of a URL; a longer one is omitted, since a truncated URL is useless
)

// searchResult is one search result.
type searchResult struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

// Names that search services use for the fields of a result.
var (
	titles   = []string{"title", "name"}
	links    = []string{"url", "link", "href"}
	snippets = []string{"snippet", "description", "content", "text"}
)

// read converts the response of a search service into a list of results.
func (t *webSearch) read(out *tool.Output, args webSearchArgs, call *tool.Call) (*tool.Output, error) {
	source := []byte(cmp.Or(string(out.Data), out.Text))
	var answered any
	if err := jsontemplate.Decode(source, &answered); err != nil {
		return nil, errors.New("the search service did not return JSON: " + clip(string(source)))
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
	at, err := t.ask.url.fill(lookup(call, t.ask.env))
	if err != nil {
		return nil, err
	}
	found := make([]searchResult, 0, len(list))
	for _, result := range list {
		if p := t.engine.page(result, at); p.Title+p.URL != "" && len(found) < args.Count {
			found = append(found, p)
		}
	}
	data, err := jsonvalue.Marshal(found)
	if err != nil {
		return nil, err
	}
	text := numberedList(found)
	if len(found) == 0 {
		text, err = t.nothing(args.Query, answered, missing)
	}
	return &tool.Output{Text: text, Data: data}, err
}

// page converts one result. at is the URL of the request.
func (e searchEngine) page(result any, at *url.URL) searchResult {
	fields, ok := result.(map[string]any)
	if !ok {
		return searchResult{}
	}
	p := searchResult{
		Title:   plain(field(e.title, fields, titles)),
		URL:     webAddress(field(e.link, fields, links), at),
		Snippet: plain(field(e.snippet, fields, snippets)),
	}
	if id, ok := fields["pageid"]; ok && p.URL == "" { // MediaWiki identifies pages by number
		p.URL = webAddress("/?curid="+jsontemplate.Text(id), at)
	}
	return p
}

// field returns the value that path selects from a result, else the first non-empty field
// of names.
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

// webAddress returns the absolute URL of a link. It returns "" for a URL that is too
// long, or contains a user name and so can disguise its host.
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

// emphasis matches the markup that services put around matching words.
var emphasis = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)</?(?:a|b|code|em|i|mark|small|span|strong|sub|sup|u|wbr)(?:\s[^<>]*)?/?>`)
})

// lineEnds matches markup that separates words.
var lineEnds = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)</?(?:br|dd|div|dl|dt|h[1-6]|hr|li|ol|p|pre|table|td|th|tr|ul)(?:\s[^<>]*)?/?>`)
})

// plain returns a text without markup, on one line, truncated to the limit.
func plain(s string) string {
	s = lineEnds().ReplaceAllString(emphasis().ReplaceAllString(s, ""), " ")
	return text.Clip(text.OneLine(html.UnescapeString(s)), maxSnippet)
}

// numberedList formats results as a numbered list.
func numberedList(found []searchResult) string {
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

// nothing returns the message for a search without results, with the service's reason, if
// any.
func (t *webSearch) nothing(query string, answered any, missing bool) (string, error) {
	text := fmt.Sprintf("No results for %q; try other or fewer words.", clip(query))
	fields, _ := answered.(map[string]any)
	switch reason := fields["error"].(type) {
	case string:
		return text + " The service says: " + plain(reason), nil
	case map[string]any:
		why := field(component.FilterRef{}, reason, []string{"info", "message", "detail", "code"})
		return "", errors.New("the search service says: " + plain(cmp.Or(why, jsontemplate.Text(reason))))
	}
	if silent, ok := fields["unresponsive_engines"].([]any); ok && len(silent) > 0 {
		return text + " Engines that did not answer: " + clip(jsontemplate.Text(silent)), nil
	}
	if missing && t.resultsPath != "" {
		text += " The answer has nothing at " + t.resultsPath + "."
	}
	return text, nil
}
