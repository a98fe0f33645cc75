package tree

import (
	"regexp"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/engine/secret"
)

// MaskSecret replaces a secret in a setting by a reference to an environment
// variable. It returns false if there is none. name is the key of the
// setting, and placeholder matches the references of the source format.
func (l *Log) MaskSecret(it *Value, name, variable string, placeholder *regexp.Regexp) (string, bool) {
	s := it.Peek()
	begin := AuthScheme().FindString(s)
	value := s[len(begin):]
	if i := strings.IndexByte(value, '='); strings.HasPrefix(value, "-") && i > 0 {
		name, begin, value = strings.TrimLeft(value[:i], "-"), value[:i+1], value[i+1:]
	}
	if bare := UserInfo().ReplaceAllString(value, "$1"); bare != value && !placeholder.MatchString(value) {
		l.Note(it, convert.Todo, "it contains a user name and a password and was not copied: set the environment variable %s to it", variable)
		return EscapeReferences(begin) + "${env." + variable + "}", true
	}
	keyed := secret.Name(name) && KindOfWord(value) == Unknown
	if value == "" || !keyed && secret.InLiteral(value, name).Kind == "" && secret.InLiteral(s, "").Kind == "" {
		return "", false
	}
	l.Note(it, convert.Todo, "it looks like a secret and was not copied: set the environment variable %s", variable)
	return EscapeReferences(begin) + "${env." + variable + "}", true
}

// Setting converts a setting to a template: references of the source format
// become references to environment variables, and a secret is replaced by one.
// The first non-empty group of placeholder is the name of a variable.
func (l *Log) Setting(it *Value, name, variable string, placeholder *regexp.Regexp) string {
	s := it.UseText()
	if bare := placeholder.ReplaceAllString(s, ""); !placeholder.MatchString(s) || secret.FindWellKnown(bare).Kind != "" {
		if masked, ok := l.MaskSecret(it, name, variable, placeholder); ok {
			return masked
		}
		return EscapeReferences(s)
	}
	var out strings.Builder
	last := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(s, -1) {
		out.WriteString(EscapeReferences(s[last:at[0]]))
		for g := 2; g+1 < len(at); g += 2 {
			if at[g] >= 0 {
				out.WriteString("${env." + s[at[g]:at[g+1]] + "}")
				break
			}
		}
		last = at[1]
	}
	return out.String() + EscapeReferences(s[last:])
}
