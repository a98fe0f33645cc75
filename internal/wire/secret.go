package wire

import (
	"maps"
	"slices"

	"github.com/pexctl/pex/engine/secret"
)

// SecretName says whether a header or a variable of this name holds what must
// never be shown.
func SecretName(name string) bool { return secret.Name(name) }

// SecretHeaders lists the values among headers that must never be shown. What
// stands behind the word of a scheme ("Bearer") is found by itself.
func SecretHeaders(headers map[string]string) (secrets []string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if SecretName(name) {
			secrets = append(secrets, headers[name])
		}
	}
	return secrets
}
