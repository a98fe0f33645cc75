package dsl

import (
	"bytes"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/unseen"
)

// ignores are the comments by which files ignore warnings, and what came of
// them. The zero ignores are ready to use.
type ignores struct {
	files map[string]*fileIgnores // by absolute path
	taken []ignoredOne
}

// fileIgnores are those of one file.
type fileIgnores struct {
	text   []byte
	rules  []*ignoring
	starts map[int]int  // lines within a text, and the line where it begins
	unseen map[int]bool // lines whose comment holds what nobody sees
}

// ignoring is one code of one comment.
type ignoring struct {
	code    diag.Code
	reason  string
	at      place // of the code
	line    int   // the line it is for; 0 = the file
	used    bool
	refused bool // an error has that code
}

// ignoredOne is a warning that was ignored. It is kept until its hint is written.
type ignoredOne struct {
	warning *diag.Diagnostic
	reason  string
}

// ignoresOf finds the comments of a file before anything of it is reported, and
// reports what is wrong with them: one that does nothing should not look as if
// it did. Those of foreign files count for nothing: others do not say what the
// project is not told.
func (r *report) ignoresOf(src *source) {
	if src.path == "" || src.foreign || !bytes.Contains(src.text, []byte(ignoreWord)) {
		return
	}
	if known := r.ignores.files[src.path]; known != nil && bytes.Equal(known.text, src.text) {
		return
	}
	comments, starts := ignoreComments(src)
	f := &fileIgnores{text: src.text, starts: starts, unseen: map[int]bool{}}
	if r.ignores.files == nil {
		r.ignores.files = map[string]*fileIgnores{}
	}
	r.ignores.files[src.path] = f
	for _, c := range comments {
		for range unseen.In(c.text) {
			f.unseen[c.at.line] = true
			break
		}
		r.rules(f, c)
	}
}

// rules reads what a comment ignores.
func (r *report) rules(f *fileIgnores, c ignoreComment) {
	switch {
	case c.suffix != "" && c.suffix != "-file":
		r.warn(diag.BadIgnore, c.at, "there is no pex:ignore%s", c.suffix).
			Hint = "pex:ignore at the end of a line is for that line, alone on a line for the next one; pex:ignore-file in the first comment is for the file"
		return
	case c.suffix == "-file" && !c.first:
		r.warn(diag.BadIgnore, c.at, "pex:ignore-file stands in the first comment of a file, before its first key").Hint = "move it there, or write pex:ignore for the next line"
		return
	case len(c.codes) == 0:
		r.warn(diag.BadIgnore, c.at, "the comment does not say which warning it ignores").Hint = ignoreHint
		return
	case c.reason == "":
		r.warn(diag.BadIgnore, c.at, "the comment does not say why %s may be ignored", c.codes[0].word).Hint = ignoreHint
		return
	}
	for _, code := range c.codes {
		_, known := diag.Explain(code.word)
		switch word := diag.Code(code.word); {
		case !known:
			r.warn(diag.BadIgnore, code.at, "there is no diagnostic %s", quoted(code.word)).Advice = nearestCode(code.word)
		case word == diag.BadIgnore || word == diag.UnusedIgnore:
			r.warn(diag.BadIgnore, code.at, "%s is about such comments, and cannot be ignored by one", word)
		default:
			f.rules = append(f.rules, &ignoring{code: word, reason: c.reason, at: code.at, line: c.line})
		}
	}
}

const ignoreHint = "write # pex:ignore PEX073 and the reason; several codes are parted by commas"

func nearestCode(word string) diag.Advice {
	var all []string
	for _, m := range diag.Codes() {
		all = append(all, string(m.Code))
	}
	return diag.SuggestNear(word, all, ignoreHint)
}

// take says that a comment ignores a diagnostic, which is then not reported. An
// error cannot be ignored, and a comment that tries is told of.
func (r *report) take(d *diag.Diagnostic, at place) bool {
	rule := r.ignores.rule(d.Code, at)
	switch {
	case rule == nil:
		return false
	case d.Severity == diag.Warning:
		if rule.used = true; len(r.ignores.taken) < maxDiagnostics {
			r.ignores.taken = append(r.ignores.taken, ignoredOne{d, rule.reason})
		}
		return true
	case !rule.refused:
		rule.refused = true
		r.warn(diag.BadIgnore, rule.at, "%s is an error here, and only warnings can be ignored", rule.code).Hint = "mend it: pexctl explain " + string(rule.code)
	}
	return false
}

// rule is the one that is for a code at a place; nil = none. A prompt of a file
// of its own can hold no comment: one where it is named counts.
func (g *ignores) rule(code diag.Code, at place) *ignoring {
	for ; at.src != nil; at = at.src.named {
		if f := g.files[at.src.path]; f != nil && at.src.path != "" {
			if rule := f.rule(code, at); rule != nil {
				return rule
			}
		}
	}
	return nil
}

func (f *fileIgnores) rule(code diag.Code, at place) *ignoring {
	if code == diag.HiddenText && f.unseen[at.line] {
		return nil
	}
	lines := []int{at.line}
	if start, within := f.starts[at.line]; within {
		lines = append(lines, start)
	}
	if key := keyOfFile(at); key > 0 {
		lines = append(lines, key)
	}
	for _, rule := range f.rules {
		if rule.code == code && (rule.line == 0 || slices.Contains(lines, rule.line)) {
			return rule
		}
	}
	return nil
}

// told is what was ignored, in the order of diagnostics.
func (g *ignores) told() []diag.Ignored {
	var found diag.List
	reasons := map[diag.Diagnostic]string{}
	for _, t := range g.taken {
		found = append(found, *t.warning)
		reasons[*t.warning] = t.reason
	}
	var out []diag.Ignored
	for _, d := range found.Sort() {
		out = append(out, diag.Ignored{Diagnostic: d, Reason: reasons[d]})
	}
	return out
}

// unusedIgnores warns about the comments of a file that ignored nothing, where all
// that could report was asked.
func (r *report) unusedIgnores(path string, asked func(diag.Code) bool) {
	f := r.ignores.files[path]
	if f == nil || r.list.Failed() || len(r.list) >= maxDiagnostics {
		return
	}
	for _, rule := range f.rules {
		if rule.used || rule.refused || !asked(rule.code) || rule.code == diag.HiddenText && f.unseen[rule.line] {
			continue
		}
		where := "nothing in this file is"
		if rule.line > 0 {
			where = "nothing in line " + itoa(rule.line) + " is"
		}
		r.warn(diag.UnusedIgnore, rule.at, "%s %s any more", where, rule.code).Hint = "remove the comment, or the code from it"
	}
}
