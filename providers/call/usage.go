package call

import (
	"unicode"

	"github.com/pexctl/pex/engine/model"
)

// uncounted says that a server did not count what a reply took. Those that refuse
// or block one often count nothing.
func uncounted(r *model.Reply) bool {
	return r.Estimated && (r.Stop == model.EndTurn || r.Stop == model.ToolUse || r.Stop == model.MaxTokens || r.Stop == model.StopSequence)
}

// leastCut is the estimate, in tokens, below which a prompt is not compared with
// what its server counted.
const leastCut = 1000

// uncountedInput is the estimated tokens of a request's messages where the server
// counted less than half of them, as one does that cuts a prompt to its context
// window and says nothing; else 0. Definitions of tools are left out: servers
// render them in fewer tokens. So are repeats of a character and white space, which
// make long tokens.
func uncountedInput(req *model.Request, r *model.Reply) int {
	n := 0
	for _, m := range req.Messages {
		for _, text := range m.Text {
			var last rune
			for _, c := range text {
				if c != last && !unicode.IsSpace(c) || !unicode.IsSpace(last) && unicode.IsSpace(c) {
					n++
				}
				last = c
			}
		}
	}
	n = model.EstimateTokens(n)
	if r.Estimated || n < leastCut || 2*r.Usage.Input >= n {
		return 0
	}
	return n
}
