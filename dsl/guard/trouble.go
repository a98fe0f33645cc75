package guard

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/file"
)

// runProblem is an evaluation's error in the language's words, in one line.
func runProblem(src string, err error) error {
	var fe *file.Error
	if !errors.As(err, &fe) {
		return err
	}
	message, hint := inWords(fe.Message)
	if m := noNumber.FindStringSubmatch(fe.Message); m != nil && !calls(src, fe.From, m[1]) {
		message, hint = "text has no fields", ofText
	}
	return problemAt(src, fe.From, message, hint)
}

// How the library and the runtime of Go tell of values that do not fit.
var (
	notThat  = regexp.MustCompile(`^interface conversion: (?:interface \{\}|any) is (.+), not (.+)$`)
	noNumber = regexp.MustCompile(`^invalid operation: (int|float)\(`)
	twoKinds = regexp.MustCompile(`^invalid operation: (.+) (?:[-+*/%<>]|[<>]=|\*\*) (.+)$`)
)

// calls says that a function is called at an offset of an expression: of text, a
// field is not found in the words of an int that fails.
func calls(src string, from int, function string) bool {
	chars := []rune(src)
	rest, ok := strings.CutPrefix(string(chars[min(from, len(chars)):]), function)
	return ok && strings.HasPrefix(strings.TrimSpace(rest), "(")
}

// ofText is the way out where a part of a text is asked for.
const ofText = "test what it is first, or write the condition on the text itself"

// convert is the way out where a value is of another kind than is wanted.
const convert = "int(x), float(x) and string(x) convert; compare with nil what may be missing"

// inWords says what went wrong in an evaluation, and the way out where one is
// known.
func inWords(message string) (said, hint string) {
	switch {
	case notThat.MatchString(message):
		m := notThat.FindStringSubmatch(message)
		said, hint = "the value is "+kindWord(m[1])+", not "+kindWord(m[2]), convert
	case message == "runtime error: integer divide by zero":
		said, hint = "division by zero", "test the divisor first: n != 0 and x % n == 0"
	case strings.HasPrefix(message, "runtime error: ") || strings.HasPrefix(message, "reflect"):
		said, hint = "the values there are do not fit together", convert
	case noNumber.MatchString(message):
		m := noNumber.FindStringSubmatch(message)
		said, hint = m[1]+" takes a number, and text that is one", `test it first: x matches "^[0-9]+$"`
	case message == "memory budget exceeded":
		said = fmt.Sprintf("the expression makes lists of more than %d elements", maxWork)
	case isNilFetch(message):
		said, hint = message, "write ?. instead of . where a value may be missing"
	case strings.HasPrefix(message, "index out of range"):
		said, hint = message, "test len(list) first"
	case strings.HasPrefix(message, "cannot fetch "):
		said, hint = message, ofText
	case twoKinds.MatchString(message):
		said, hint = message, convert
	default:
		said = message
	}
	return strings.ReplaceAll(typeNames.Replace(said), "<nil>", "nil"), hint
}

// kindWord is a type of Go as a kind of value, with its article.
func kindWord(t string) string {
	switch t {
	case "nil":
		return t
	case "int", "float64":
		return "a number"
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "[]interface {}", "[]any":
		return "a list"
	case "map[string]interface {}", "map[string]any":
		return "an object"
	}
	return typeNames.Replace(t)
}

// kindWords is kindWord for the values of a list.
func kindWords(t string) string {
	switch t {
	case "int", "float64":
		return "numbers"
	case "string":
		return "texts"
	case "bool":
		return "truths"
	}
	return "values of another type"
}
