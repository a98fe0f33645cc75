package refusal

import (
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// starts are the words that start a refusal, anywhere in the first sentences. One of acts
// must follow.
var starts = [...]string{
	"i can't", "i cannot", "i can not", "i won't", "i will not", "i'm unable to", "i am unable to",
	"i'm not able to", "i am not able to", "i couldn't", "we can't", "we cannot", "unable to",
	"i'm not allowed to", "i am not allowed to", "i'm not permitted to", "i am not permitted to",
	"i'm not going to", "i am not going to", "i shouldn't", "i should not", "can't", "cannot",
}

// acts are what a refusal refuses. They are acts of helping as such, not a step that
// merely failed so far.
var acts = [...]string{
	"help with", "help you", "help in", "help create", "help make", "assist", "comply", "fulfill", "fulfil", "do that", "do this",
	"provide that", "provide this", "provide information", "provide instructions", "provide guidance", "provide help",
	"provide assistance", "engage in", "engage with", "support this", "support that", "participate",
	"satisfy this", "complete this request", "complete that request", "process this request", "process that request",
	"answer that", "answer this request", "discuss that", "discuss this", "continue with this", "continue this conversation",
	"proceed with this request", "proceed with that", "carry out this", "carry out that", "generate that", "generate this",
	"create that", "generate content", "create content", "share that", "respond to that", "respond to this request",
	"grant this", "grant that", "be able to help", "be helping", "be able to assist", "take part", "help.", "help!", "in good conscience",
}

// phrases are refusals by themselves.
var phrases = [...]string{
	"i must decline", "i have to decline", "i need to decline", "i decline to", "i respectfully decline", "i must refuse",
	"i have to refuse", "i refuse to", "i'm not comfortable", "i am not comfortable", "i don't feel comfortable",
	"against my guidelines", "against my programming", "against my policy", "against my principles", "violates my guidelines",
	"violates our policies", "violates our content policy", "violates the content policy", "violates openai's",
	"violates usage policies", "violates our usage", "goes against my", "not something i can help", "not something i can assist",
	"not something i'm able to", "outside of what i can help", "outside what i can help", "i'm sorry, but i can't.",
	"i'm sorry, i can't.", "my guidelines prevent", "my guidelines don't allow", "my guidelines do not allow",
	"i don't provide", "i do not provide", "i'm designed not to", "i am designed not to",
	"no puedo ayudar", "no puedo cumplir", "je ne peux pas vous aider", "je ne peux pas t'aider", "je ne peux pas répondre à cette demande",
	"dabei kann ich nicht helfen", "damit kann ich nicht helfen", "dabei kann ich dir nicht helfen", "dabei kann ich ihnen nicht helfen",
	"não posso ajudar", "non posso aiutar",
}

// workWords occur in prose that continues to plan, which is not a refusal but an invalid
// reply.
var workWords = [...]string{
	"i will first", "i'll first", "let me ", "let's ", "step 1", "first, i", "i'll start", "i will start", "until ", "without first", "my plan",
	"unless i ", "so i will", "so i'll", "before i ", "instead, i will", "instead i will", "yet",
}

// Is reports whether a text is a refusal. Only its start counts: the first three
// sentences, at most 600 bytes. A text that then does the task is not a refusal. In doubt,
// Is returns false.
func Is(s string) bool {
	s = strings.ToLower(strings.TrimLeft(text.Head(s, 600), " \t\n\r#*_>\"'“”`"))
	s = strings.NewReplacer("’", "'", "‘", "'", "\n", " ", "  ", " ").Replace(s)
	for _, w := range workWords {
		if strings.Contains(s, w) {
			return false
		}
	}
	s = sentences(s, 3)
	for _, p := range phrases {
		if strings.Contains(s, p) {
			return true
		}
	}
	for _, start := range starts {
		for rest := s; ; {
			i := strings.Index(rest, start+" ")
			if i < 0 {
				break
			}
			rest = rest[i+len(start)+1:]
			if refusesAct(rest) {
				return true
			}
		}
	}
	return bareNo(s)
}

// refusesAct reports whether the text after "I can't" starts with an act of helping.
func refusesAct(rest string) bool {
	near := text.Head(rest, 60)
	for _, act := range acts {
		if i := strings.Index(near, act); i >= 0 && !strings.ContainsAny(near[:i], ".;:") {
			return true
		}
	}
	return false
}

// bareNo reports whether a text is nothing but an apology.
func bareNo(s string) bool {
	s = strings.Trim(s, " .!*_\"'`")
	switch s {
	case "i can't", "i cannot", "i'm sorry, but i can't", "i'm sorry, i can't", "i'm sorry", "sorry, i can't", "sorry", "no",
		"i'm sorry, i can't help", "sorry, i can't help", "i can't help", "request denied", "i refuse", "refused", "declined":
		return true
	}
	return false
}

// sentences returns the start of a text, up to the end of its n-th sentence.
func sentences(s string, n int) string {
	for i := range len(s) {
		if c := s[i]; (c == '.' || c == '!' || c == '?') && (i+1 == len(s) || s[i+1] == ' ') {
			if n--; n == 0 {
				return s[:i+1]
			}
		}
	}
	return s
}
