package convert

import (
	"slices"
	"strings"
)

// apart gives connectors whose credentials are not the same ones variables of
// their own, where they would have the same: by their keys, or since both lead to
// one provider, which looks into one variable.
func (m *importer) apart() {
	var labels []string
	for i, c := range m.connectors {
		label := strings.TrimPrefix(screaming(oneUnderscore(c.body.at("name").peek())), "KEY_")
		if label == "" || slices.Contains(labels, label) || len(label) > 40 {
			label = "CONNECTOR_" + itoa(i+1)
		}
		labels = append(labels, label)
		if slices.ContainsFunc(m.connectors, func(d *connector) bool { return d != c && c.clashes(d) }) {
			c.label = label
		}
	}
}

func oneUnderscore(s string) string { return underscores().ReplaceAllString(named(s, ""), "_") }

// clashes says that two connectors have credentials that are not the same, under
// the same names or for the same host.
func (c *connector) clashes(d *connector) bool {
	mine, theirs := c.body.at("credential").unfold(), d.body.at("credential").unfold()
	if mine == nil || theirs == nil || alike(mine, theirs) {
		return false
	}
	u, v := c.address(), d.address()
	return u != nil && v != nil && u.Host == v.Host ||
		slices.ContainsFunc(mine.keys, func(key string) bool { return slices.Contains(theirs.keys, key) })
}

// alike says that two values are the same text, number, list or object.
func alike(a, b *item) bool {
	if a.kind != b.kind || a.text != b.text || len(a.items) != len(b.items) || !slices.Equal(a.keys, b.keys) {
		return false
	}
	for i := range a.items {
		if !alike(a.items[i], b.items[i]) {
			return false
		}
	}
	return true
}

// ownKey is the variable that holds the key of a connector which shares its
// provider with another one; "" = the provider's usual one does.
func (c *connector) ownKey() string {
	cred := c.body.at("credential")
	if c.label == "" || cred == nil || len(cred.keys) == 0 {
		return ""
	}
	return c.variable(cred.keys[0])
}
