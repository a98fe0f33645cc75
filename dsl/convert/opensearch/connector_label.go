package opensearch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// labelConnectors assigns separate variables to connectors with different
// credentials that would share a variable: by their keys, or because both use the
// same provider, which reads one variable.
func (m *importer) labelConnectors() {
	var labels []string
	for i, c := range m.connectors {
		label := strings.TrimPrefix(toEnvName(oneUnderscore(c.body.Get("name").Peek())), "KEY_")
		if label == "" || slices.Contains(labels, label) || len(label) > 40 {
			label = "CONNECTOR_" + strconv.Itoa(i+1)
		}
		labels = append(labels, label)
		if slices.ContainsFunc(m.connectors, func(d *connector) bool { return d != c && c.clashes(d) }) {
			c.label = label
		}
	}
}

func oneUnderscore(s string) string { return underscores().ReplaceAllString(toName(s, ""), "_") }

// clashes reports whether two connectors have different credentials with the same
// names or for the same host.
func (c *connector) clashes(d *connector) bool {
	mine, theirs := c.body.Get("credential").Decode(), d.body.Get("credential").Decode()
	if mine == nil || theirs == nil || equal(mine, theirs) {
		return false
	}
	u, v := c.address(), d.address()
	return u != nil && v != nil && u.Host == v.Host ||
		slices.ContainsFunc(mine.Keys, func(key string) bool { return slices.Contains(theirs.Keys, key) })
}

// equal reports whether two values are the same text, number, list or object.
func equal(a, b *tree.Value) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Items) != len(b.Items) || !slices.Equal(a.Keys, b.Keys) {
		return false
	}
	for i := range a.Items {
		if !equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	return true
}

// ownKey returns the variable for the key of a connector that shares its provider
// with another one, or "" to use the provider's usual variable.
func (c *connector) ownKey() string {
	cred := c.body.Get("credential")
	if c.label == "" || cred == nil || len(cred.Keys) == 0 {
		return ""
	}
	return c.variable(cred.Keys[0])
}
