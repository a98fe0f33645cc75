package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/pexctl/pex/eval/trial"
)

// maxSlug bounds a name within an id.
const maxSlug = 60

// runID is the id of a trial's run: the same in every session, and another for
// each attempt at a trial that ended in an error. The evaluation's own stands
// first, for what a run does to the world is known by it.
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

// hashed is how many digits of a hash stand behind a name that was changed.
const hashed = 24

// slug writes a name with the letters that ids have. What is lost of it stands
// behind it as a hash; a name that looks as if one did gets its own, so that no
// two names share a slug.
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

// looksHashed says that a name ends as a slug with a hash does.
func looksHashed(name string) bool {
	n := len(name) - hashed
	return n > 0 && name[n-1] == '-' && strings.Trim(name[n:], "0123456789abcdef") == ""
}
