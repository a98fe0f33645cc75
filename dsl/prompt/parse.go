package prompt

import (
	"fmt"
	"strings"
)

// parser parses one source from left to right.
type parser struct {
	src             string
	options         Options
	problems        []Problem
	names           []string
	named           map[string]bool // by names
	tooDeepReported bool            // TooDeep was already reported
	unclosed        int             // number of unclosed defaults
}

const (
	maxDepth    = 16   // nested defaults
	maxUnclosed = 8    // unclosed defaults: each requires a scan of the rest of the source
	maxName     = 1000 // bytes to search for the end of a computed name
)

// parseResult is the result of parsing at a "${" or "$<": a reference, or text up to
// next that contains open unclosed braces. closed is false if the source ended
// inside a default.
type parseResult struct {
	ref    *reference
	next   int
	open   int
	closed bool
}

// parts parses up to the balancing closer, or to the end for closer 0.
func (p *parser) parts(i int, closer byte, depth int) (out []part, end int, closed bool) {
	start, nest := i, 0
	for i < len(p.src) && len(p.problems) < maxProblems && p.unclosed < maxUnclosed {
		c := p.src[i]
		switch {
		case p.escape(i):
			out = addText(out, p.src[start:i])
			if start = i + 1; closer != 0 && p.src[i+2] == opening(closer) {
				nest++
			}
			i += 3
		case p.opens(i):
			f := p.reference(i, depth)
			if !f.closed {
				return nil, i, false
			}
			if f.ref != nil {
				out = append(addText(out, p.src[start:i]), part{ref: f.ref})
				start = f.next
			} else if p.src[i+1] == opening(closer) {
				nest += f.open
			}
			i = f.next
		case closer != 0 && c == closer && nest == 0:
			return addText(out, p.src[start:i]), i + 1, true
		default:
			if closer != 0 && c == closer {
				nest--
			} else if closer != 0 && c == opening(closer) {
				nest++
			}
			p.otherSpelling(i)
			i++
		}
	}
	return addText(out, p.src[start:]), len(p.src), closer == 0
}

// addText appends text, merged with text before it.
func addText(out []part, s string) []part {
	if s == "" {
		return out
	}
	if n := len(out); n > 0 && out[n-1].ref == nil {
		out[n-1].text += s
		return out
	}
	return append(out, part{text: s})
}

func (p *parser) escape(i int) bool {
	return i+2 < len(p.src) && p.src[i] == '$' && p.opens(i+1)
}

func (p *parser) opens(i int) bool {
	return i+1 < len(p.src) && p.src[i] == '$' && (p.src[i+1] == '{' || p.src[i+1] == '<')
}

func opening(closer byte) byte {
	if closer == '>' {
		return '<'
	}
	return '{'
}

func closing(opener byte) byte {
	if opener == '<' {
		return '>'
	}
	return '}'
}

// reference parses the reference at "${" or "$<".
func (p *parser) reference(at, depth int) parseResult {
	h := p.head(at)
	switch h.stop {
	case foreign:
		p.warnNearMiss(at)
		return parseResult{next: at + 2, open: 1, closed: true}
	case fallback:
		return p.withDefault(at, h, depth)
	case closes:
		p.addName(h)
		return p.finish(at, h, h.end, nil)
	case computed:
		return p.computedName(at, h)
	case mismatch:
		p.report(NearMiss, at, h.end+1, fmt.Sprintf("%s opens with %s but closes with %c, so it is sent unchanged", p.src[at:h.end+1], p.src[at:at+2], p.src[h.end]),
			fmt.Sprintf("write %s%c", p.src[at:h.end], closing(p.src[at+1])))
	default:
		p.unterminated(at, h)
	}
	return parseResult{next: h.end, open: 1, closed: true}
}

func (p *parser) unterminated(at int, h head) {
	src := strings.TrimRight(p.src[at:h.end], " \t")
	p.report(Unterminated, at, at+len(src), fmt.Sprintf("the reference %s is not closed", src),
		fmt.Sprintf("write %s.%s%c, or $%s if you mean the text", p.src[at:at+2]+h.ns, strings.TrimSpace(h.name), closing(p.src[at+1]), p.src[at:at+2]))
}

func (p *parser) withDefault(at int, h head, depth int) parseResult {
	if depth == maxDepth {
		if !p.tooDeepReported {
			p.report(TooDeep, at, h.end, fmt.Sprintf("defaults are nested more than %d levels deep", maxDepth), "use a separate prompt, or fewer defaults")
		}
		p.tooDeepReported = true
		return parseResult{next: h.end, open: 1, closed: true}
	}
	problems, names := len(p.problems), len(p.names)
	p.addName(h)
	parts, end, closed := p.parts(h.end, closing(p.src[at+1]), depth+1)
	if closed {
		return p.finish(at, h, end, parts)
	}
	p.problems = p.problems[:problems]
	p.dropNames(names)
	if depth > 0 {
		return parseResult{}
	}
	p.unclosed++
	p.unterminated(at, h)
	return parseResult{next: h.end, open: 1, closed: true}
}

// computedName skips ${parameters.${...}} completely.
func (p *parser) computedName(at int, h head) parseResult {
	end, open := p.balanced(at), 0
	if end < 0 {
		end, open = h.end, 1
	}
	p.report(ComputedName, at, max(end, at+2), "references cannot be nested: "+p.src[at:end], "write the name itself; to choose by a value, use a default or two templates")
	return parseResult{next: end, open: open, closed: true}
}

// balanced returns the end of the bracket at a "${", nearby on the same line, or
// -1.
func (p *parser) balanced(at int) int {
	open, nest := p.src[at+1], 0
	for i := at + 1; i < min(len(p.src), at+maxName) && p.src[i] != '\n'; i++ {
		switch p.src[i] {
		case open:
			nest++
		case closing(open):
			if nest--; nest == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func (p *parser) addName(h head) {
	if name, _, ok := split(h.name); ok {
		p.addFull(h.ns + "." + name)
	}
}

func (p *parser) addFull(full string) {
	if p.named[full] {
		return
	}
	if p.named == nil {
		p.named = map[string]bool{}
	}
	p.named[full] = true
	p.names = append(p.names, full)
}

// dropNames drops the names after the first n.
func (p *parser) dropNames(n int) {
	for _, name := range p.names[n:] {
		delete(p.named, name)
	}
	p.names = p.names[:n]
}
