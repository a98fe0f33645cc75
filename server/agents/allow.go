package agents

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// DefaultAllowSet are the keys that clients may override by default.
func DefaultAllowSet() []string { return []string{"limits.*", "llms.*.model"} }

// plainOverride matches the overrides that a client may set at all. Values are plain: no
// references, which would read the environment of the server, and no collections.
var plainOverride = text.Regexp(`^(limits\.[a-z_]+|llms\.[A-Za-z0-9_-]+\.model)=[A-Za-z0-9][A-Za-z0-9_.:/@ -]*$`)

// MayOverride reports whether clients may set an override, KEY=VALUE, by a list of keys; see
// Definition.AllowSet.
func MayOverride(allowed []string, override string) bool {
	if !plainOverride().MatchString(override) {
		return false
	}
	key, _, _ := strings.Cut(override, "=")
	return slices.ContainsFunc(allowed, func(pattern string) bool {
		before, after, isPattern := strings.Cut(pattern, "*")
		return pattern == key || isPattern && strings.HasPrefix(key, before) && strings.HasSuffix(key, after)
	})
}
