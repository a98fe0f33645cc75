package aurite

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/secret"
)

// isWhole reports whether a value is a positive whole number.
func isWhole(it *tree.Value) bool {
	n, err := strconv.Atoi(strings.TrimSpace(it.Peek()))
	return err == nil && n > 0
}

// address returns an address as a template. It drops an address that contains
// credentials.
func (m *project) address(it *tree.Value, variable string) string {
	s := it.UseText()
	u, err := url.Parse(placeholder().ReplaceAllString(s, "x"))
	private := err == nil && u.User != nil || secret.InLiteral(s, "").Kind != ""
	if err == nil {
		for name, values := range u.Query() {
			private = private || secret.Name(name) && !placeholder().MatchString(s) && values[0] != ""
		}
	}
	if private {
		m.Note(it, convert.Todo, "the address holds credentials and was not taken over: set the environment variable %s to it", variable)
		return "${env." + variable + "}"
	}
	return m.setting(it, "", variable)
}
