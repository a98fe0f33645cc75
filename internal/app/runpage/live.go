package runpage

import (
	"fmt"
	"hash/fnv"
	"html/template"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/runview"
)

// Live is how a page that updates itself shows a run. Its parts have versions, so that a
// reader need not receive again what it has, and the content of calls has its own pages.
type Live struct {
	CallURL func(path string) string // of the page of a call
	Have    map[string]bool          // versions that the reader has: their parts are written without content
}

// chunkRows is the number of rows of the list of calls that have a version together.
const chunkRows = 50

// row is a row of the list of calls: the begin or the end of a group, or an item.
type row struct {
	Kind    string // begin, item or end
	ID      string
	Version string
	Group   group
	Item    runview.Item
	URL     string // of the content of the item; "" = in the row
}

// group is a group with what its templates need to know of the page.
type group struct {
	runview.Group
	Costs bool
}

// Body returns a run for a page that has Style and GraphPolicy, and that shows the open
// questions itself.
func (l *Live) Body(v *runview.View) (template.HTML, error) {
	p := newPage(v)
	p.live = l
	return execute("live", p)
}

// CallBody returns the content of a call.
func CallBody(it *runview.Item) (template.HTML, error) { return execute("content", it) }

// CallName returns a short name of a call.
func CallName(it *runview.Item) string { return itemName(it) }

func execute(name string, data any) (template.HTML, error) {
	var b strings.Builder
	if err := loadPage().ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("run page: %w", err)
	}
	return template.HTML(b.String()), nil
}

// Part returns a part of a live page.
func (p *page) Part(name string) (template.HTML, error) {
	content, err := execute(name, p)
	if err != nil {
		return "", err
	}
	return p.versioned("part", "p-"+name, version(content), func() (template.HTML, error) { return content, nil })
}

// versioned returns an element with a version, with its content if the reader does not have it.
func (p *page) versioned(class, id, v string, content func() (template.HTML, error)) (inner template.HTML, err error) {
	if !p.live.Have[v] {
		if inner, err = content(); err != nil {
			return "", err
		}
	}
	return template.HTML(`<div class="`+class+`" id="`+id+`" data-v="`+v+`">`) + inner + "</div>\n", nil
}

// Chunks returns the list of calls of a live page.
func (p *page) Chunks() (out []template.HTML, err error) {
	rows := p.rows()
	for i := 0; i < len(rows); i += chunkRows {
		chunk := rows[i:min(i+chunkRows, len(rows))]
		versions := make([]any, len(chunk))
		for k := range chunk {
			versions[k] = chunk[k].Version
		}
		class := "chunk"
		if len(chunk) == chunkRows {
			class += " full"
		}
		html, err := p.versioned(class, "k"+strconv.Itoa(i/chunkRows), version(versions...), func() (template.HTML, error) { return execute("rows", chunk) })
		if err != nil {
			return nil, err
		}
		out = append(out, html)
	}
	return out, nil
}

func (p *page) rows() (out []row) {
	for i := range p.Groups {
		g := group{p.Groups[i], p.Costs}
		out = append(out, row{Kind: "begin", ID: "g-" + g.Path, Group: g, Version: version(g.Path, g.Goal, g.Status, g.Attempts, g.ModelCalls, g.ToolCalls, g.Tokens, g.CostUSD, g.DurationMS())})
		for k := range g.Items {
			it := g.Items[k]
			r := row{Kind: "item", ID: "i-" + it.ID, Item: it, Version: itemVersion(&it)}
			if isCall(&it) && p.live.CallURL != nil {
				r.URL = p.live.CallURL(it.Path)
			}
			out = append(out, r)
		}
		out = append(out, row{Kind: "end", ID: "e-" + g.Path, Group: g, Version: version(g.Path, g.Error, g.Result)})
	}
	return out
}

// itemVersion changes with everything that can change of an item while a run executes.
func itemVersion(it *runview.Item) string {
	return version(it.ID, it.Path, it.Status, it.Failed, it.Done, it.FromMS, it.ToMS, len(it.Text), len(it.Args), len(it.Original), len(it.Calls), it.Decision != nil, it.CostUSD)
}

// AllGroups returns the groups with what their templates need.
func (p *page) AllGroups() (out []group) {
	for i := range p.Groups {
		out = append(out, group{p.Groups[i], p.Costs})
	}
	return out
}

// version returns a digest of values.
func version(values ...any) string {
	h := fnv.New64a()
	_, _ = fmt.Fprintln(h, values...) // a hash accepts everything
	return strconv.FormatUint(h.Sum64()>>16, 36)
}
