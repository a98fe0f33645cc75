package secret

import (
	"regexp"
	"strings"
)

// Sighting is what looks like a key in a text.
type Sighting struct {
	At    int    // where it begins
	Text  string // all of it; never to be shown
	Looks string // what it looks like: "a GitHub token"; "" = nothing was seen
}

// form is what the keys of one service look like.
type form struct {
	marks []string       // each key begins with one of them
	key   *regexp.Regexp // from its begin
	looks string
	digit bool // words may look so too, but have no digit
}

func formed(looks, key string, marks ...string) form {
	return form{marks: marks, key: regexp.MustCompile("^(?:" + key + ")"), looks: looks}
}

func (f form) withDigit() form {
	f.digit = true
	return f
}

// forms are the keys that are known by their look.
var forms = []form{
	formed("an API key", `sk-(?:proj|ant|or|svcacct|admin|live|test)-[A-Za-z0-9_-]{11,}`, "sk-"),
	formed("an API key", `sk-[A-Za-z0-9_-]{16,}`, "sk-").withDigit(),
	formed("an AWS access key id", `A[KS]IA[0-9A-Z]{16}`, "AKIA", "ASIA"),
	formed("a GitHub token", `gh[pousr]_[A-Za-z0-9]{30,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	formed("a GitHub token", `github_pat_[A-Za-z0-9_]{30,}`, "github_pat_"),
	formed("a GitLab token", `glpat-[A-Za-z0-9_-]{20,}`, "glpat-"),
	formed("a Slack token", `xox[abeprs]-[A-Za-z0-9-]{10,}`, "xox"),
	formed("a Google API key", `AIza[0-9A-Za-z_-]{35}`, "AIza"),
	formed("a Google client secret", `GOCSPX-[A-Za-z0-9_-]{20,}`, "GOCSPX-"),
	formed("a Hugging Face token", `hf_[A-Za-z0-9]{30,}`, "hf_"),
	formed("a Groq key", `gsk_[A-Za-z0-9]{40,}`, "gsk_"),
	formed("an xAI key", `xai-[A-Za-z0-9]{40,}`, "xai-"),
	formed("a Replicate token", `r8_[A-Za-z0-9]{30,}`, "r8_"),
	formed("an NVIDIA key", `nvapi-[A-Za-z0-9_-]{40,}`, "nvapi-"),
	formed("a Tavily key", `tvly-[A-Za-z0-9-]{20,}`, "tvly-"),
	formed("a LangSmith key", `lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`, "lsv2_"),
	formed("a Stripe key", `[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`, "sk_live_", "sk_test_", "rk_live_", "rk_test_"),
	formed("an npm token", `npm_[A-Za-z0-9]{36}`, "npm_"),
	formed("a SendGrid key", `SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}`, "SG."),
	formed("a signed token (JWT)", `eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+`, "eyJ"),
	formed("a private key", `-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----`, "-----BEGIN "),
}

// Known looks for a key of a well-known service. It looks only where one can
// begin, so that long texts cost little.
func Known(s string) Sighting {
	for i := range forms {
		for _, mark := range forms[i].marks {
			if seen := forms[i].find(s, mark); seen.Looks != "" {
				return seen
			}
		}
	}
	return Sighting{}
}

// window is how much of a text behind a mark is looked at.
const window = 4096

func (f *form) find(s, mark string) Sighting {
	for from := 0; ; {
		i := strings.Index(s[from:], mark)
		if i < 0 {
			return Sighting{}
		}
		i += from
		if begins(s, i) {
			key := f.key.FindString(s[i:min(len(s), i+window)])
			if key != "" && (!f.digit || strings.ContainsAny(key, "0123456789")) {
				return Sighting{i, key, f.looks}
			}
		}
		from = i + len(mark)
	}
}

// begins says whether a word begins at i: in JSON within JSON, also behind an
// escaped line end.
func begins(s string, i int) bool {
	if i == 0 || !wordByte(s[i-1]) {
		return true
	}
	return i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
