package syntax

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/invisible"
)

// Ignores holds the comments that ignore warnings, and the warnings that they
// ignored. The zero value is ready to use.
type Ignores struct {
	files map[string]*fileIgnores // by absolute path
	found []ignoredWarning
}

// fileIgnores holds the comments of one file.
type fileIgnores struct {
	text      []byte
	rules     []*ignoreRule
	starts    map[int]int  // lines within a text, with the line where it starts
	invisible map[int]bool // lines whose comment has invisible characters
}

// ignoreRule is one code of one comment.
type ignoreRule struct {
	code    diag.Code
	reason  string
	at      Position // of the code
	line    int      // the line it applies to; 0 for the file
	used    bool
	refused bool // an error has that code
}

// ignoredWarning is a warning that was ignored. It is stored because its hint is
// written later.
type ignoredWarning struct {
	warning *diag.Diagnostic
	reason  string
}

// ignoresOf finds the comments of a file before anything in it is reported, and
// reports mistakes in them, so that a comment without an effect does not look
// effective. Comments in foreign files have no effect: only the project decides
// which warnings it ignores.
func (r *Report) ignoresOf(src *Source) {
	if src.Path == "" || src.Foreign || !bytes.Contains(src.Text, []byte(IgnoreWord)) {
		return
	}
	if known := r.Ignores.files[src.Path]; known != nil && bytes.Equal(known.text, src.Text) {
		return
	}
	comments, starts := ignoreComments(src)
	f := &fileIgnores{text: src.Text, starts: starts, invisible: map[int]bool{}}
	if r.Ignores.files == nil {
		r.Ignores.files = map[string]*fileIgnores{}
	}
	r.Ignores.files[src.Path] = f
	for _, c := range comments {
		for range invisible.In(c.text) {
			f.invisible[c.at.Line] = true
			break
		}
		r.rules(f, c)
	}
}

// rules adds what a comment ignores.
func (r *Report) rules(f *fileIgnores, c ignoreComment) {
	switch {
	case c.suffix != "" && c.suffix != "-file":
		r.Warn(diag.BadIgnore, c.at, "unknown comment pex:ignore%s", c.suffix).
			Hint = "pex:ignore at the end of a line applies to that line, on a line of its own to the next line; pex:ignore-file in the first comment applies to the file"
		return
	case c.suffix == "-file" && !c.first:
		r.Warn(diag.BadIgnore, c.at, "pex:ignore-file must be in the first comment of the file, before the first key").Hint = "move it there, or use pex:ignore for the next line"
		return
	case len(c.codes) == 0:
		r.Warn(diag.BadIgnore, c.at, "pex:ignore needs the code of a warning").Hint = ignoreHint
		return
	case c.reason == "":
		r.Warn(diag.BadIgnore, c.at, "pex:ignore %s needs a reason", c.codes[0].word).Hint = ignoreHint
		return
	}
	for _, code := range c.codes {
		_, known := diag.Explain(code.word)
		switch word := diag.Code(code.word); {
		case !known:
			r.Warn(diag.BadIgnore, code.at, "unknown diagnostic code %s", Quote(code.word)).Advice = nearestCode(code.word)
		case word == diag.BadIgnore || word == diag.UnusedIgnore:
			r.Warn(diag.BadIgnore, code.at, "%s reports ignore comments and cannot be suppressed", word)
		default:
			f.rules = append(f.rules, &ignoreRule{code: word, reason: c.reason, at: code.at, line: c.line})
		}
	}
}

const ignoreHint = "write # pex:ignore PEX073 and a reason; separate several codes with commas"

func nearestCode(word string) diag.Advice {
	var all []string
	for _, m := range diag.Codes() {
		all = append(all, string(m.Code))
	}
	return diag.SuggestNear(word, all, ignoreHint)
}

// applyIgnore reports whether a comment ignores a diagnostic, which is then not
// reported. An error cannot be ignored; a comment that tries is reported.
func (r *Report) applyIgnore(d *diag.Diagnostic, at Position) bool {
	rule := r.Ignores.rule(d.Code, at)
	switch {
	case rule == nil:
		return false
	case d.Severity == diag.Warning:
		if rule.used = true; len(r.Ignores.found) < maxDiagnostics {
			r.Ignores.found = append(r.Ignores.found, ignoredWarning{d, rule.reason})
		}
		return true
	case !rule.refused:
		rule.refused = true
		r.Warn(diag.BadIgnore, rule.at, "%s is an error here; only warnings can be suppressed", rule.code).Hint = "fix it: pexctl explain " + string(rule.code)
	}
	return false
}

// rule returns the comment that applies to a code at a place, or nil. A prompt in
// its own file cannot contain comments, so a comment at the reference to the file
// applies.
func (g *Ignores) rule(code diag.Code, at Position) *ignoreRule {
	for ; at.Source != nil; at = at.Source.NamedAt {
		if f := g.files[at.Source.Path]; f != nil && at.Source.Path != "" {
			if rule := f.rule(code, at); rule != nil {
				return rule
			}
		}
	}
	return nil
}

func (f *fileIgnores) rule(code diag.Code, at Position) *ignoreRule {
	if code == diag.HiddenText && f.invisible[at.Line] {
		return nil
	}
	lines := []int{at.Line}
	if start, within := f.starts[at.Line]; within {
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

// List returns the ignored warnings, in the order of diagnostics.
func (g *Ignores) List() []diag.Ignored {
	var found diag.List
	reasons := map[diag.Diagnostic]string{}
	for _, t := range g.found {
		found = append(found, *t.warning)
		reasons[*t.warning] = t.reason
	}
	var out []diag.Ignored
	for _, d := range found.Sort() {
		out = append(out, diag.Ignored{Diagnostic: d, Reason: reasons[d]})
	}
	return out
}

// UnusedIgnores warns about comments of a file that ignored nothing, for codes
// whose analyzers all ran.
func (r *Report) UnusedIgnores(path string, asked func(diag.Code) bool) {
	f := r.Ignores.files[path]
	if f == nil || r.List.Failed() || len(r.List) >= maxDiagnostics {
		return
	}
	for _, rule := range f.rules {
		if rule.used || rule.refused || !asked(rule.code) || rule.code == diag.HiddenText && f.invisible[rule.line] {
			continue
		}
		where := "nothing in this file reports"
		if rule.line > 0 {
			where = "nothing on line " + strconv.Itoa(rule.line) + " reports"
		}
		r.Warn(diag.UnusedIgnore, rule.at, "%s %s", where, rule.code).Hint = "remove the comment, or remove the code from it"
	}
}
