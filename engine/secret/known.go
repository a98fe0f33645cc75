package secret

import (
	"regexp"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// Sighting is a text that looks like a key.
type Sighting struct {
	At   int    // offset
	Text string // the key; must not be shown
	Kind string // kind: "a GitHub token"; "" = nothing found
}

// form is the format of one service's keys.
type form struct {
	marks []string              // each key starts with one of them
	key   func() *regexp.Regexp // anchored at the start
	looks string
	digit bool // a digit is required, to exclude words
}

func newForm(looks, key string, marks ...string) form {
	return form{marks: marks, key: text.Regexp("^(?:" + key + ")"), looks: looks}
}

func (f form) withDigit() form {
	f.digit = true
	return f
}

// forms are the known formats of keys.
var forms = []form{
	newForm("an API key", `sk-(?:proj|ant|or|svcacct|admin|live|test)-[A-Za-z0-9_-]{11,}`, "sk-"),
	newForm("an API key", `sk-[A-Za-z0-9_-]{16,}`, "sk-").withDigit(),
	newForm("an AWS access key id", `A[KS]IA[0-9A-Z]{16}`, "AKIA", "ASIA"),
	newForm("a GitHub token", `gh[pousr]_[A-Za-z0-9]{30,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	newForm("a GitHub token", `github_pat_[A-Za-z0-9_]{30,}`, "github_pat_"),
	newForm("a GitLab token", `glpat-[A-Za-z0-9_-]{20,}`, "glpat-"),
	newForm("a Slack token", `xox[abeprs]-[A-Za-z0-9-]{10,}`, "xox"),
	newForm("a Google API key", `AIza[0-9A-Za-z_-]{35}`, "AIza"),
	newForm("a Google client secret", `GOCSPX-[A-Za-z0-9_-]{20,}`, "GOCSPX-"),
	newForm("a Hugging Face token", `hf_[A-Za-z0-9]{30,}`, "hf_"),
	newForm("a Groq key", `gsk_[A-Za-z0-9]{40,}`, "gsk_"),
	newForm("an xAI key", `xai-[A-Za-z0-9]{40,}`, "xai-"),
	newForm("a Replicate token", `r8_[A-Za-z0-9]{30,}`, "r8_"),
	newForm("an NVIDIA key", `nvapi-[A-Za-z0-9_-]{40,}`, "nvapi-"),
	newForm("a Tavily key", `tvly-[A-Za-z0-9-]{20,}`, "tvly-"),
	newForm("a LangSmith key", `lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`, "lsv2_"),
	newForm("a Stripe key", `[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`, "sk_live_", "sk_test_", "rk_live_", "rk_test_"),
	newForm("an npm token", `npm_[A-Za-z0-9]{36}`, "npm_"),
	newForm("a SendGrid key", `SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}`, "SG."),
	newForm("a signed token (JWT)", `eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+`, "eyJ"),
	newForm("a private key", `-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----`, "-----BEGIN "),
}

// FindWellKnown looks for a key of a well-known service. It checks only possible starts, so long
// texts are cheap.
func FindWellKnown(s string) Sighting {
	for i := range forms {
		for _, mark := range forms[i].marks {
			if seen := forms[i].find(s, mark); seen.Kind != "" {
				return seen
			}
		}
	}
	return Sighting{}
}

// window is how many bytes after a mark are checked.
const window = 4096

func (f *form) find(s, mark string) Sighting {
	for from := 0; ; {
		i := strings.Index(s[from:], mark)
		if i < 0 {
			return Sighting{}
		}
		i += from
		if startsWord(s, i) {
			key := f.key().FindString(s[i:min(len(s), i+window)])
			if key != "" && (!f.digit || strings.ContainsAny(key, "0123456789")) {
				return Sighting{i, key, f.looks}
			}
		}
		from = i + len(mark)
	}
}

// startsWord reports whether a word starts at i, also after an escaped line break in
// nested JSON.
func startsWord(s string, i int) bool {
	if i == 0 || !wordByte(s[i-1]) {
		return true
	}
	return i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
