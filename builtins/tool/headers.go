package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

const (
	keyHeader = "Idempotency-Key"
	maxKey    = 200 // bytes of a key that are sent unhashed
)

// setKey adds an idempotency key, so that a server can detect a repeated write.
func setKey(req *http.Request, call *tool.Call) {
	if isRead(req.Method) || call.Key == "" || req.Header.Get(keyHeader) != "" {
		return
	}
	key := call.Key
	if len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		sum := sha256.Sum256([]byte(key))
		key = hex.EncodeToString(sum[:])
	}
	req.Header.Set(keyHeader, key)
}

// headerValue reports whether s is a valid header value.
func headerValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// headerName reports whether s is a valid header name.
func headerName(s string) bool {
	const signs = "!#$%&'*+-.^_`|~"
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(signs, r)
	})
}

// framing are headers that control where a request goes and where it ends. They are set
// automatically.
var framing = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "Te", "Trailer",
	"Proxy-Authorization", "Proxy-Connection", "Expect", "Accept-Encoding",
}

// checkHeaders returns faults for headers that an author cannot set.
func checkHeaders(headers map[string]component.Template) (out component.Faults) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		at := "/headers" + component.Key(name)
		switch {
		case !headerName(name):
			out = append(out, component.Fault{At: at, Message: "invalid header name " + clip(name), Hint: "use only letters, digits and -"})
		case slices.Contains(framing, http.CanonicalHeaderKey(name)):
			out = append(out, component.Fault{At: at, Message: "header " + name + " is set automatically", Hint: "remove it"})
		}
	}
	return out
}
