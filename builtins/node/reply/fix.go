package reply

// fix is a set of problems in a text that were fixed without guessing.
type fix uint32

const (
	fixUTF8 fix = 1 << iota
	fixComma
	fixMissingComma
	fixQuotes
	fixInnerQuotes
	fixBareKey
	fixLiteral
	fixNaN
	fixNumber
	fixComment
	fixControl
	fixEscape
	fixSpace
	fixStringified
	fixBareText
	fixColon
	fixBracket
	fixUnclosed
	fixEndQuote
	fixSurround
	fixSeveral
	fixWrapper
)

// fixWords describes each fix, in the order of the bits.
var fixTexts = [...]string{
	"bytes that are not UTF-8 replaced",
	"stray comma dropped",
	"missing comma added",
	"quotes other than \" replaced",
	"quotes inside a string escaped",
	"bare key quoted",
	"literal respelled (True, None, ...)",
	"NaN, Infinity or undefined read as null",
	"number respelled",
	"comment dropped",
	"raw control character in a string escaped",
	"invalid escape in a string repaired",
	"unusual white space dropped",
	"JSON inside a JSON string unwrapped",
	"text without quotes quoted",
	"missing colon added",
	"mismatched or missing bracket corrected",
	"missing brackets added at the end",
	"missing closing quote added",
	"text around the JSON dropped",
	"several values joined into one list",
	"value taken out of its wrapper",
}

// words returns the descriptions of the fixes in the set.
func (m fix) words() []string {
	var out []string
	for i, w := range fixTexts {
		if m&(1<<i) != 0 {
			out = append(out, w)
		}
	}
	return out
}
