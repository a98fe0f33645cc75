package payload

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/engine/regular"
)

const keySize = 32

// Ring has the keys of payloads. The first one encrypts, all decrypt. It prints none of them.
type Ring struct {
	current *key
	byID    map[string]*key
	source  string // where the keys are, for messages
}

// key is a key with its public name and check.
type key struct {
	id     string
	check  string // hex; differs for different keys of one name
	secret []byte
}

// KeyError reports keys that cannot be used. It does not contain them.
type KeyError struct {
	Source string // the variable or file
	Line   int    // from 1; 0 = the source as a whole
	Reason string
}

// Error names the source and the line.
func (e *KeyError) Error() string {
	at := e.Source
	if e.Line > 0 {
		at = fmt.Sprintf("%s, line %d", at, e.Line)
	}
	return fmt.Sprintf("keys of payloads: %s: %s", at, e.Reason)
}

// RingFromVariable reads the keys in an environment variable.
func RingFromVariable(environ func(string) string, name string) (*Ring, error) {
	return ParseRing("the environment variable "+name, environ(name))
}

// RingFromFile reads the keys in a file.
func RingFromFile(path string) (*Ring, error) {
	text, err := regular.ReadFile(path)
	if err != nil {
		return nil, &KeyError{Source: path, Reason: err.Error()}
	}
	return ParseRing(path, string(text))
}

// ParseRing parses keys: one a line, NAME:KEY or KEY, where KEY is 32 bytes in base64 or hex. A key without a name is
// named after its check. Empty lines and lines that start with # are ignored. source says where the text is.
func ParseRing(source, text string) (*Ring, error) {
	r := &Ring{byID: map[string]*key{}, source: source}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, reason := parseKey(line)
		if reason == "" && r.byID[k.id] != nil {
			reason = fmt.Sprintf("there are two keys named %s", k.id)
		}
		if reason != "" {
			return nil, &KeyError{source, n, reason}
		}
		r.byID[k.id] = k
		if r.current == nil {
			r.current = k
		}
	}
	if r.current == nil {
		return nil, &KeyError{Source: source, Reason: "it has no keys; create one with: openssl rand -base64 32"}
	}
	return r, nil
}

// parseKey parses one line. reason says what is wrong, without the line.
func parseKey(line string) (k *key, reason string) {
	id, text, named := strings.Cut(line, ":")
	if !named {
		id, text = "", line
	}
	secret := decodeKey(strings.TrimSpace(text))
	switch {
	case named && !isKeyID(id):
		return nil, "a name of a key has 1 to 64 letters, digits, dots, hyphens and underscores"
	case len(secret) != keySize:
		return nil, "a key is 32 bytes in base64 or hex; create one with: openssl rand -base64 32"
	case strings.Count(string(secret), string(secret[:1])) == keySize:
		return nil, "all bytes of the key are equal; create one with: openssl rand -base64 32"
	}
	k = &key{id: id, secret: secret}
	check, err := hkdf.Key(sha256.New, secret, nil, "pex temporal payload 1 key check", 4)
	if err != nil {
		return nil, err.Error()
	}
	k.check = hex.EncodeToString(check)
	if !named {
		k.id = k.check
	}
	return k, ""
}

// decodeKey decodes base64 of both alphabets, with or without padding, or hex. It returns nil for anything else.
func decodeKey(text string) []byte {
	if b, err := hex.DecodeString(text); err == nil {
		return b
	}
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	if b, err := base64.RawStdEncoding.Strict().DecodeString(text); err == nil {
		return b
	}
	return nil
}

func isKeyID(id string) bool {
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return len(id) > 0 && len(id) <= 64 && strings.Trim(id, characters) == ""
}

// String returns the name of the key that encrypts, and how many there are.
func (r *Ring) String() string {
	if r == nil {
		return "no keys"
	}
	return fmt.Sprintf("key %s encrypts, %d in total", r.current.id, len(r.byID))
}

// Format implements fmt.Formatter for all verbs, so that none prints a key.
func (r *Ring) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, r.String()) }
