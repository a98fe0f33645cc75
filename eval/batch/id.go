package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/pexctl/pex/eval/trial"
)

// maxSlug is the maximum length of a name within an id.
const maxSlug = 60

// runID returns the id of a trial's run: the same in every session, but different for
// each attempt after an error. It starts with the evaluation's id, which identifies side
// effects.
func runID(eval string, k trial.Key, attempt int) string {
	var b strings.Builder
	b.WriteString(slug(eval))
	b.WriteByte('~')
	b.WriteString(slug(k.Case))
	b.WriteByte('~')
	b.WriteString(slug(k.Variant))
	b.WriteByte('~')
	b.WriteString(strconv.Itoa(k.Repeat))
	if attempt > 1 {
		b.WriteByte('.')
		b.WriteString(strconv.Itoa(attempt))
	}
	return b.String()
}

// hashed is the number of hash digits appended to a changed name.
const hashed = 24

// slug converts a name to id characters. A changed name gets a hash suffix, and so does a
// name that already looks as if it had one, so that slugs are unique.
func slug(name string) string {
	whole := len(name) <= maxSlug && !looksHashed(name)
	out := make([]byte, 0, maxSlug)
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
		default:
			c, whole = '-', false
		}
		if len(out) < maxSlug {
			out = append(out, c)
		}
	}
	if whole {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	out = append(out[:min(len(out), maxSlug-hashed-1)], '-')
	return string(hex.AppendEncode(out, sum[:hashed/2]))
}

// looksHashed reports whether a name ends like a slug with a hash.
func looksHashed(name string) bool {
	n := len(name) - hashed
	return n > 0 && name[n-1] == '-' && strings.Trim(name[n:], "0123456789abcdef") == ""
}
