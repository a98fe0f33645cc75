package testspec

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
)

// PositionOf returns a position for use after the compilation.
func PositionOf(p syntax.Position) Position {
	if p.Source == nil {
		return Position{}
	}
	return Position{File: p.Source.Name, Line: p.Line, Column: p.Column}
}

// compileCase decodes a case. file receives the keys that only a case in its own
// file has.
func (t *testsCompiler) compileCase(v *syntax.Node, path string, file *language.CaseFileKeys) {
	free := t.compiler(nil)
	if v.Kind != syntax.Map {
		free.WrongType(v, path, "a case").Hint = "write {name: ..., run: {...}}"
		return
	}
	set := append(slices.Clip(t.set), free.Overrides(v.Get("set"), config.Join(path, "set"))...)
	s := t.subjectUnderTest(set)
	c := t.compiler(s)
	var k language.CaseKeys
	if file != nil {
		c.Decode(v, path, file, &k)
	} else {
		c.Decode(v, path, &k)
	}
	out := Case{
		Description: k.Description, Position: PositionOf(v.Position), Dir: t.tests.Dir, Spec: t.spec, Set: TextsOf(set),
		Render: c.rendered(s, k.Render), Given: c.givenState(k.Given, config.Join(path, "given")),
	}
	out.Name = t.caseName(c, v, k.Name, path)
	out.Parameters = t.parameters(c, s, v, &k, path)
	out.Run = t.run(c, s, v.Find("run"), k.Run, config.Join(path, "run"))
	out.Golden = t.golden(c, v, &out, k.Golden)
	out.Inject = c.injections(s, v.Get("inject"), k.Inject)
	out.Checks = c.caseChecks(s, &k, path)
	out.Redact = c.redactions(v.Get("redact"), k.Redact)
	c.checkUseless(v, &k, path)
	t.tests.Cases = append(t.tests.Cases, out)
}

// subjectUnderTest returns the spec under test with the overrides of a case, or nil if
// it is unknown or if an error was reported.
func (t *testsCompiler) subjectUnderTest(set []Override) *Subject {
	switch {
	case t.inSpec && len(set) == 0:
		return t.fixedSubject
	case t.inSpec || t.spec == "":
		return nil
	}
	return t.load(t.at, t.spec, set)
}

// caseName returns the name of a case: by default that of its folder. The name,
// and its form in paths, is unique among the cases of the file.
func (t *testsCompiler) caseName(c *Compiler, v *syntax.Node, name, path string) string {
	at := v.Position
	if e := v.Find("name"); e != nil {
		at = e.Value.Position
	}
	if name == "" && t.isFolderCase {
		name = filepath.Base(t.tests.Dir)
	}
	slug := Slug(name)
	switch {
	case name == "":
		t.Report.Error(diag.MissingKey, at, "missing required key \"name\" in %s", c.TitleOf(path)).Hint = "name the behavior that the case tests, such as name: finds the cause"
		return ""
	case slug == "" || strings.ContainsFunc(name, unicode.IsControl) || utf8.RuneCountInString(name) > language.MaxCaseName:
		t.Report.Error(diag.BadName, at, "invalid name %s for a case", syntax.Quote(name)).Hint = "write a few words on one line"
		return name
	}
	if first, ok := t.names[name]; ok {
		t.Report.Error(diag.DuplicateKey, at, "duplicate case %s; the first one is at %s", syntax.Quote(name), syntax.Where(first)).Hint = "rename one of them"
		return name
	}
	if other, ok := t.slugs[slug]; ok {
		t.Report.Error(diag.DuplicateKey, at, "the cases %s and %s have the same file name %s", syntax.Quote(other), syntax.Quote(name), slug).Hint = "rename one of them"
	}
	t.names[name], t.slugs[slug] = at, name
	return name
}

// longestSlug is the maximum length of a slug in bytes: file systems allow at
// most 255.
const longestSlug = 200

// Slug returns the form of a name in paths: its letters and digits in lower case,
// and a - for everything between them. The end of a long one is replaced by a
// digest. A - is appended to names that Windows reserves.
func Slug(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if b.Len() > 0 {
			b.WriteByte('-')
		}
		b.WriteString(word)
	}
	slug := b.String()
	switch {
	case len(slug) > longestSlug:
		sum := sha256.Sum256([]byte(slug))
		slug = strings.ToValidUTF8(slug[:longestSlug-9], "") + "-" + hex.EncodeToString(sum[:4])
	case windowsDevices().MatchString(slug):
		slug += "-"
	}
	return slug
}

// windowsDevices matches file names that Windows reserves.
var windowsDevices = text.Regexp(`^(?:con|prn|aux|nul|com\d|lpt\d)$`)

// parameters returns the parameters of the file overridden by those of the case.
// It checks them against the declarations of the spec.
func (t *testsCompiler) parameters(c *Compiler, s *Subject, v *syntax.Node, k *language.CaseKeys, path string) map[string]any {
	out := map[string]any{}
	take := func(section *syntax.Node, path string) {
		section = c.Section(path, section)
		for _, e := range section.Entries {
			if s != nil {
				c.ParameterValue(s, e, path)
			}
			out[e.Key] = jsonvalue.Plain(e.Value.AppendJSON(nil))
		}
	}
	take(t.params, "parameters")
	take(k.Parameters, config.Join(path, "parameters"))
	if s == nil || k.Run == nil {
		return out
	}
	for _, p := range s.Program.Parameters {
		if _, given := out[p.Name]; !given && p.Required && p.Default == nil {
			t.Report.Error(diag.MissingKey, v.Position, "%s does not set the required parameter %q", c.TitleOf(path), p.Name).
				Hint = "write parameters: {" + p.Name + ": ...}"
		}
	}
	return out
}

// ParameterValue checks a value that is passed to a spec.
func (c *Compiler) ParameterValue(s *Subject, e *syntax.Entry, path string) {
	p := Parameter(s.Program, e.Key)
	if p == nil {
		names := make([]string, len(s.Program.Parameters))
		for i, p := range s.Program.Parameters {
			names[i] = p.Name
		}
		c.Report.Error(diag.UnknownName, e.Position, "%s has no parameter %s", c.Files.Shown(s.File), syntax.Quote(e.Key)).Advice = diag.Suggest(e.Key, names)
		return
	}
	if c.RejectRounded(e.Value, path+"."+e.Key, diag.WrongType) {
		return
	}
	if err := p.Check.Validate(e.Value.JSONValue()); err != nil {
		c.Report.Error(diag.WrongType, e.Value.Position, "%s.%s does not match its schema: %s", path, e.Key, strings.TrimPrefix(err.Error(), "/: "))
	}
}

// golden returns the place of the golden files of a case.
func (t *testsCompiler) golden(c *Compiler, v *syntax.Node, k *Case, written string) string {
	if e := v.Get("golden"); e != nil && written != "" {
		abs, ok := c.Path(e, written)
		if ok && strings.HasSuffix(written, ".md") && (len(k.Render) != 1 || k.Run != nil) {
			t.Report.Error(diag.WrongType, e.Position, "golden must be a directory, because more than one prompt is compared").Hint = "write golden: " + strings.TrimSuffix(written, ".md")
		}
		return abs
	}
	switch {
	case t.isFolderCase:
		return filepath.Join(t.tests.Dir, "golden")
	case len(k.Render) == 0:
		return ""
	}
	dir := t.tests.Dir
	if filepath.Base(dir) != "tests" {
		dir = filepath.Join(dir, "tests")
	}
	name := Slug(k.Name)
	if _, agent := specfs.SplitAgent(t.spec); agent != "" { // the file's own cases may have the same names
		k.FormerGolden = filepath.Join(dir, name, "golden")
		name = agent + "." + name
	}
	return filepath.Join(dir, name, "golden")
}

// checkUseless reports a case that does nothing, and keys that have an effect
// only in a run.
func (c *Compiler) checkUseless(v *syntax.Node, k *language.CaseKeys, path string) {
	if k.Run != nil || v.Find("run") != nil {
		return
	}
	if v.Get("render") == nil {
		c.Report.Error(diag.MissingKey, v.Position, "%s has neither render nor run", c.TitleOf(path)).
			Hint = "write render: planner to compare a prompt, or run: {} to run the agent"
	}
	for _, key := range []string{"expect", "trajectory", "checks", "inject"} {
		if e := v.Find(key); e != nil && e.Value.Kind != syntax.Null {
			c.Report.Error(diag.MissingKey, e.Position, "%s has %s but no run", c.TitleOf(path), key).Hint = "write run: {...}"
		}
	}
}

// redactions checks the patterns of text that differs between runs.
func (c *Compiler) redactions(v *syntax.Node, keys []language.RedactKeys) []Redact {
	out := make([]Redact, 0, len(keys))
	for i, k := range keys {
		at := v.Items[i]
		switch {
		case (k.Pattern == "") == (k.Path == ""):
			c.Report.Error(diag.Exclusive, at.Position, "redact[%d] must have exactly one of pattern and path", i).Hint = "write {name: id, pattern: 'r-[0-9a-f]+'}"
		case k.Pattern != "":
			if _, err := regexp.Compile(k.Pattern); err != nil {
				c.Report.Error(diag.BadPattern, at.Get("pattern").Position, "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: ")).
					Hint = "patterns use RE2 syntax; use single quotes in YAML to keep backslashes"
			}
		case !strings.HasPrefix(k.Path, "/"):
			c.Report.Error(diag.BadPath, at.Get("path").Position, "invalid JSON pointer %s", syntax.Quote(k.Path)).Hint = "write /steps/0/result, or /steps/*/result"
		}
		if k.Name != "" && !redactName().MatchString(k.Name) {
			c.Report.Error(diag.BadName, at.Get("name").Position, "invalid name %s for a redaction", syntax.Quote(k.Name)).Hint = "a name contains only letters, digits, _ and -"
		}
		out = append(out, Redact(k))
	}
	return out
}

var redactName = text.Regexp(`^[A-Za-z][A-Za-z0-9_-]*$`)
