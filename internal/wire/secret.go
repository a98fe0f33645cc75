package wire

import "strings"

// SecretName says whether a header or a variable of this name holds what must
// never be shown.
func SecretName(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "key", "token", "secret", "cookie", "pass", "credential", "signature"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// SecretHeaders lists the values among headers that must never be shown, with
// and without the word of their scheme in front ("Bearer").
func SecretHeaders(headers map[string]string) (secrets []string) {
	for name, value := range headers {
		if SecretName(name) {
			_, bare, _ := strings.Cut(value, " ")
			secrets = append(secrets, value, bare)
		}
	}
	return secrets
}
