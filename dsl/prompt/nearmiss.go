package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// aliases maps words that users write to namespaces.
var aliases = map[string]string{
	"param": "parameters", "params": "parameters", "parameter": "parameters",
	"input": "parameters", "inputs": "parameters", "var": "parameters", "vars": "parameters",
	"environment": "env", "environ": "env",
	"arg": "args", "argument": "args", "arguments": "args",
	"cases": "case", "row": "case",
	"step":    "steps",
	"partial": "prompts", "partials": "prompts",
}

// otherNamespaces are namespaces that exist in other places of a spec. steps is not
// among them, because prompts explain that notation to models.
var otherNamespaces = []string{"parameters", "env", "args", "case", "prompts"}

// warnNearMiss warns about a "${" that stays text and looks like an intended
// reference.
func (p *parser) warnNearMiss(at int) {
	i := at + 2
	if i < len(p.src) && p.src[i] == '{' { // ${{ parameters.x }}
		if ns, _ := p.namespace(i + 1); ns != "" {
			p.warnSpelling(at, i+1)
		}
		return
	}
	i = p.blanks(i)
	word := p.word(i)
	next := p.blanks(i + len(word))
	if word == "" || next >= len(p.src) {
		return
	}
	end := p.lineEnd(at, next)
	open, c := p.src[at:at+2], closing(p.src[at+1])
	asWritten := p.src[at:end]
	switch ns := p.nearestNamespace(word); {
	case slices.Contains(p.namespaces(), word):
		p.report(NearMiss, at, end, asWritten+" is not a reference, so it is sent unchanged", fmt.Sprintf("write %s%s.name%c", open, word, c))
	case p.src[next] == '.' && ns != "":
		p.report(NearMiss, at, end, asWritten+" is not a reference, so it is sent unchanged", fmt.Sprintf("write %s%s%s", open, ns, p.src[next:end]))
	case p.src[next] == '.' && slices.Contains(otherNamespaces, word):
		p.report(NearMiss, at, end, fmt.Sprintf("%s is not a reference here, so it is sent unchanged", asWritten),
			"only "+strings.Join(p.namespaces(), ", ")+" can be used here; write $"+asWritten+" if you mean the text")
	case p.src[next] == c || p.src[next] == ':':
		p.warnBareName(at, end, word, p.src[next:end])
	}
}

// warnBareName warns about ${x} if x is a declared name. A namespace that has every name,
// like env, implies nothing about x. rest is what follows the name in a reference
// to it.
func (p *parser) warnBareName(at, end int, word, rest string) {
	open := p.src[at : at+2]
	if open[0] == '{' {
		open = "${"
	}
	if p.options.Known == nil {
		return
	}
	for _, ns := range p.namespaces() {
		if !p.options.Known(ns, "").Declared && p.options.Known(ns, word).Declared {
			p.report(NearMiss, at, end, p.src[at:end]+" is not a reference, so it is sent unchanged", "write "+open+ns+"."+word+rest)
			return
		}
	}
}

// otherSpelling warns about references in the syntax of other template languages:
// {{parameters.x}}, {parameters.x}, $(parameters.x), $parameters.x; and about {{
// x }} and {x} if x is a declared name.
func (p *parser) otherSpelling(at int) {
	i := at
	switch p.src[i] {
	case '{':
		if i > 0 && (p.src[i-1] == '{' || p.src[i-1] == '$') {
			return
		}
		if i++; i < len(p.src) && p.src[i] == '{' {
			i++
		}
		p.warnBraced(at, i)
	case '$':
		if i++; i < len(p.src) && (p.src[i] == '(' || p.src[i] == '[') {
			i++
		}
	default:
		return
	}
	p.warnSpelling(at, i)
}

// warnBraced warns about a declared name alone between the braces that end at i.
func (p *parser) warnBraced(at, i int) {
	closer := strings.Repeat("}", i-at)
	if i-at == 2 {
		i = p.blanks(i)
	}
	word := p.word(i)
	end := i + len(word)
	if len(closer) == 2 {
		end = p.blanks(end)
	}
	if word != "" && strings.HasPrefix(p.src[end:], closer) {
		p.warnBareName(at, end+len(closer), word, "}")
	}
}

// warnSpelling warns if ns.name is at i, in a spelling that starts at at.
func (p *parser) warnSpelling(at, i int) {
	ns, next := p.namespace(i)
	if ns == "" {
		return
	}
	name := next
	for name < len(p.src) && (wordByte(p.src[name]) || p.src[name] == '.') {
		name++
	}
	path := strings.TrimRight(p.src[next:name], ".")
	if path == "" {
		return
	}
	end := next + len(path)
	bare := p.src[at] == '$' && i == at+1
	for !bare && end < len(p.src) && strings.IndexByte(" })]", p.src[end]) >= 0 {
		end++
	}
	written := strings.TrimRight(p.src[at:end], " ")
	p.report(NearMiss, at, at+len(written), written+" is not a reference, so it is sent unchanged", "write ${"+ns+"."+path+"}")
}

// nearestNamespace returns the namespace that a misspelled word most likely
// means, or "".
func (p *parser) nearestNamespace(word string) string {
	lower := strings.ToLower(word)
	if ns := aliases[lower]; slices.Contains(p.namespaces(), ns) {
		return ns
	}
	if slices.Contains(otherNamespaces, word) {
		return ""
	}
	return diag.Nearest(lower, p.namespaces())
}

// lineEnd returns the offset after the closer of the bracket at at, searched from
// i on the same line, or i if there is none.
func (p *parser) lineEnd(at, i int) int {
	rest, _, _ := strings.Cut(p.src[i:min(len(p.src), i+200)], "\n")
	if n := strings.IndexByte(rest, closing(p.src[at+1])); n >= 0 {
		return i + n + 1
	}
	return i
}
