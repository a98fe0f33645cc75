//go:build e2e

package browsertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"

	"github.com/pexctl/pex/engine/text"
)

// silent are the roles that the tree of a page omits, because their content says the same.
var silent = []string{
	"StaticText", "InlineTextBox", "generic", "none", "LineBreak", "ListMarker", "paragraph", "code", "strong", "emphasis", "time",
	"row", "cell", "gridcell", "rowgroup", "LabelText", "DescriptionList", "term", "definition", "Section", "list", "listitem", "MenuListPopup", "ScrollableArea", "Legend",
}

// operable are the roles of what a person can operate.
var operable = []string{"button", "link", "textbox", "searchbox", "checkbox", "combobox", "DisclosureTriangle", "radio", "spinbutton"}

// maxName is the length at which the tree truncates names.
const maxName = 100

// AccessibilityTree returns what a screen reader finds on the page, one line per element with
// its role and name, and the elements that a person can operate but that have no name.
func (b *Tab) AccessibilityTree() (tree string, unnamed []string) {
	b.t.Helper()
	b.do(enable(accessibility.Enable))
	res, err := chromedp.Call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	nodes := map[accessibility.NodeID]*accessibility.Node{}
	for _, n := range res.Nodes {
		nodes[n.NodeID] = n
	}
	var out strings.Builder
	var walk func(n *accessibility.Node, depth int)
	walk = func(n *accessibility.Node, depth int) {
		role, name := textOf(n.Role), strings.Join(strings.Fields(textOf(n.Name)), " ")
		if !n.Ignored && name == "" && slices.Contains(operable, role) {
			unnamed = append(unnamed, fmt.Sprintf("%s in %q", role, textOf(nodes[n.ParentID].Name)))
		}
		if !n.Ignored && role != "" && !slices.Contains(silent, role) {
			fmt.Fprintf(&out, "%s%s%s %q\n", strings.Repeat("  ", depth), role, level(n), text.ClipRunes(name, maxName))
			depth++
		}
		for _, id := range n.ChildIDs {
			if child := nodes[id]; child != nil {
				walk(child, depth)
			}
		}
	}
	walk(res.Nodes[0], 0)
	return out.String(), unnamed
}

// level returns the level of a heading.
func level(n *accessibility.Node) string {
	for _, p := range n.Properties {
		if p.Name == "level" {
			return " " + textOf(p.Value)
		}
	}
	return ""
}

// textOf returns a value as text.
func textOf(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var s string
	if json.Unmarshal(v.Value, &s) == nil {
		return s
	}
	return string(v.Value)
}
