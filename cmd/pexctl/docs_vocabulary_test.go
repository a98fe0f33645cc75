package main

import (
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/docscmd"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

// vocabulary holds the names in the program and the repository that pages can
// use.
type vocabulary struct {
	app      *cli.App
	commands map[string]bool // names of all commands
	flags    map[string]bool // of all commands, without dashes
	keys     [][]string      // paths of keys, fields and names of expressions, by segment
	words    map[string]bool // the segments of keys
	terms    map[string]bool // words of all code spans of the reference: keys, values, components
	files    map[string]bool // names of files
	paths    []string        // of all files
	folders  map[string]bool // names of folders
	groups   map[string]bool // commands with subcommands
	targets  map[string]bool // of make
	codes    map[string]bool // of diagnostics
}

func newVocabulary(t *testing.T) vocabulary {
	t.Helper()
	v := vocabulary{app: newApp(newEnv(streams{strings.NewReader(""), io.Discard, io.Discard}))}
	v.commands, v.groups, v.flags = map[string]bool{}, map[string]bool{}, map[string]bool{}
	v.addCommands(v.app.Commands)
	v.words, v.terms = map[string]bool{}, map[string]bool{}
	v.addKeys(t)
	v.addAPI(t)
	v.files, v.folders = map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			v.folders[d.Name()] = true
		} else if err == nil {
			v.files[d.Name()] = true
			v.paths = append(v.paths, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(top, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	v.targets = map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):`).FindAllStringSubmatch(string(makefile), -1) {
		v.targets[m[1]] = true
	}
	v.codes = map[string]bool{}
	for _, m := range diag.Codes() {
		v.codes[string(m.Code)] = true
	}
	return v
}

func (v vocabulary) addCommands(commands []*cli.Command) {
	for _, c := range commands {
		v.commands[c.Name] = true
		v.groups[c.Name] = len(c.Subcommands) > 0
		for _, f := range c.Flags {
			for _, name := range f.Names() {
				v.flags[name] = true
			}
		}
		v.addCommands(c.Subcommands)
	}
}

// addAPI adds the names of the HTTP API and the codes of its errors.
func (v *vocabulary) addAPI(t *testing.T) {
	t.Helper()
	names, _ := apiNames(t)
	maps.Copy(v.terms, names)
	for _, code := range problem.Codes() {
		v.terms[string(code)] = true
	}
	v.terms[string(manager.Queued)] = true
}

var (
	codeHeading = regexp.MustCompile("^#+ .*?(?:`([^`]+)`)?$")
	anyWord     = regexp.MustCompile(`[a-z0-9_]+`)
	snakeCase   = regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)
	firstCell   = regexp.MustCompile(`^\|[^|]*\|`)
)

// addKeys reads the first column of the reference's tables, with the heading
// above each, which names their section.
func (v *vocabulary) addKeys(t *testing.T) {
	t.Helper()
	templates, err := docscmd.TemplatesPage(components())
	if err != nil {
		t.Fatal(err)
	}
	texts := [][]byte{templates, docscmd.ExpressionsPage(), docscmd.ResultPage(), docscmd.EventsPage(), docscmd.ExitPage()}
	for _, p := range docscmd.KeyPages(components()) {
		texts = append(texts, []byte(p.Text()))
	}
	for _, m := range diag.Codes() {
		texts = append(texts, docscmd.DiagnosticPage(m))
	}
	var ofLLMs []string
	for _, page := range texts {
		above := ""
		for line := range strings.Lines(string(page)) {
			line = strings.TrimSpace(line)
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				for _, word := range anyWord.FindAllString(m[1], -1) {
					v.terms[word] = true
				}
			}
			if m := codeHeading.FindStringSubmatch(line); m != nil {
				above = placeOfHeading(m[1])
			}
			for _, m := range codeSpan.FindAllStringSubmatch(firstCell.FindString(line), -1) {
				v.addKey(above + m[1])
				if above == "llms.<name>." {
					ofLLMs = append(ofLLMs, m[1])
				}
			}
		}
	}
	for role := range engine.PromptNames {
		for _, key := range ofLLMs {
			v.addKey(role + "." + key) // a role accepts the keys of its LLM
		}
	}
}

func placeOfHeading(code string) string {
	key, _, typed := strings.Cut(code, ": ")
	switch {
	case code == "" || code == "case.yaml":
		return ""
	case typed && key == "provider":
		return "llms.<name>.options."
	case typed:
		return "checks[]."
	}
	return code + "."
}

func (v *vocabulary) addKey(key string) {
	segments := strings.Split(strings.ReplaceAll(key, "[]", ""), ".")
	v.keys = append(v.keys, segments)
	for _, s := range segments {
		v.words[s] = true
	}
}

// problem describes the mistake in a mention. It returns "" if there is none, or
// if the mention is not about pex.
func (v vocabulary) problem(m mention) string {
	switch first, _, _ := strings.Cut(m.text, " "); {
	case codeWord.MatchString(m.text) && len(m.text) == len("PEX000"):
		return unless(v.codes[m.text], "no such code")
	case first == "pexctl":
		return v.commandProblem(m.text)
	case first == "make":
		return v.targetProblem(shellWord.FindAllString(m.text, -1)[1:])
	case strings.HasPrefix(first, "-"):
		return v.flagProblem(m)
	case strings.HasSuffix(first, ".go") && first == m.text, inRepository(m.text):
		return v.fileProblem(m)
	case m.prose && v.groups[first] && subcommand.MatchString(m.text):
		return v.commandProblem("pexctl " + m.text)
	case hostName.MatchString(m.text):
		return ""
	case readersFile.MatchString(m.text):
		return v.readersFileProblem(m)
	case dottedKey.MatchString(m.text):
		return unless(v.hasKey(strings.Split(strings.ReplaceAll(m.text, "[]", ""), ".")), "no such key, field or name")
	case snakeCase.MatchString(m.text) && !strings.HasPrefix(m.page, "docs/migrating"): // migration pages name keys of other tools
		return unless(v.terms[m.text], "the reference has no such key, value or component")
	case keyValue.MatchString(m.text):
		return v.settingProblem(m.text)
	case m.prose && plainWord.MatchString(m.text) && !strings.HasPrefix(m.page, "docs/migrating"):
		return v.wordProblem(m)
	}
	return ""
}

var (
	dottedKey   = regexp.MustCompile(`^[a-z_]+(\[\])?(\.[a-z_<>]+(\[\])?)+$`)
	hostName    = regexp.MustCompile(`^[\w.]+\.(ai|co|com|net)$`)
	readersFile = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*\.(csv|json|jsonl|lock|log|md|mod|sh|toml|ts|tsv|txtar|yaml)$`)
	plainWord   = regexp.MustCompile(`^[a-z]+$`)
	subcommand  = regexp.MustCompile(`^[a-z]+ [a-z]+( |$)`)
	keyValue    = regexp.MustCompile(`^[a-z_]+: `)
	placeholder = regexp.MustCompile(`<[a-z]+>`)
	shellWord   = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^\s|;&<>()"'])+|[|;&<>()]`)
)

func unless(ok bool, problem string) string {
	if ok {
		return ""
	}
	return problem
}

// commandProblem follows the words of a command line to its command, and looks
// up its flags.
func (v vocabulary) commandProblem(line string) string {
	line, _, _ = strings.Cut(line, ": ") // pexctl run: the title of its help
	words := shellWord.FindAllString(line, -1)[1:]
	if end := slices.IndexFunc(words, func(s string) bool { return strings.ContainsAny(s[:1], "|;&<>()") }); end >= 0 {
		words = words[:end]
	}
	name := words
	if end := slices.IndexFunc(words, func(s string) bool { return strings.ToUpper(s) == s || s[0] == '%' }); end >= 0 {
		name = words[:end] // pexctl runs COMMAND
	}
	if len(name) == 0 || slices.Contains([]string{"--version", "--help", "help"}, name[0]) {
		return ""
	}
	c, err := ui.Find(v.app, name)
	if err != nil {
		return err.Error()
	}
	if c.Command == nil {
		return "a command comes before flags"
	}
	for _, word := range words {
		name, _, _ := strings.Cut(strings.Trim(word, "[]"), "=")
		if name = strings.TrimLeft(name, "-"); strings.HasPrefix(word, "-") && name != "" && name != "help" && ui.FlagOf(c.Command, name) == nil {
			return ui.UnknownFlag(c.Command, name).Error()
		}
	}
	return ""
}

// flagProblem checks a flag that is mentioned without a command: a command of
// the same paragraph has it, or any command if the paragraph names none.
func (v vocabulary) flagProblem(m mention) string {
	name, _, _ := strings.Cut(strings.TrimLeft(strings.Fields(m.text)[0], "-"), "=")
	if name == "" || name == "help" {
		return ""
	}
	for _, line := range m.commands {
		c, err := ui.Find(v.app, shellWord.FindAllString(line, -1)[1:])
		if err == nil && c.Command != nil && ui.FlagOf(c.Command, name) != nil {
			return ""
		}
	}
	if len(m.commands) > 0 {
		return "none of the commands in the paragraph has the flag: " + strings.Join(m.commands, ", ")
	}
	return unless(v.flags[name], "no command has the flag")
}

// readersFileProblem checks the name or path of a file: it is somewhere in the
// repository, or in a code block of the page.
func (v vocabulary) readersFileProblem(m mention) string {
	inRepository := func(path string) bool { return strings.HasSuffix(path, "/"+m.text) }
	if slices.ContainsFunc(v.paths, inRepository) || strings.Contains(m.code, m.text) {
		return ""
	}
	return "no such file in the repository or in a code block of the page"
}

// wordProblem checks a single word: a key, value, component, command, folder,
// or a name in a code block of the page.
func (v vocabulary) wordProblem(m mention) string {
	inCode := regexp.MustCompile(`\b` + m.text + `\b`).MatchString
	if v.terms[m.text] || v.commands[m.text] || v.folders[m.text] || inCode(m.code) {
		return ""
	}
	return "no such key, value, component, command, folder or name of the page"
}

func (v vocabulary) targetProblem(words []string) string {
	for _, word := range words {
		if !strings.Contains(word, "=") && !v.targets[word] {
			return "the Makefile has no such target"
		}
	}
	return ""
}

// inRepository reports whether a span is a path below a folder of the repository.
func inRepository(text string) bool {
	folder, rest, _ := strings.Cut(text, "/")
	if folder == "" || rest == "" || strings.ContainsAny(text, " ${}") {
		return false
	}
	info, err := os.Stat(filepath.Join(top, folder))
	return err == nil && info.IsDir()
}

// fileProblem searches for a path at the root and beside the page, and for a bare
// name anywhere.
func (v vocabulary) fileProblem(m mention) string {
	if !strings.Contains(m.text, "/") {
		return unless(v.files[m.text], "no such file")
	}
	name := placeholder.ReplaceAllString(strings.TrimSuffix(m.text, "/..."), "*")
	for _, folder := range []string{".", path.Dir(m.page)} {
		if found, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(path.Join(folder, name)))); err == nil && len(found) > 0 {
			return ""
		}
	}
	return "no such file"
}

// hasKey reports whether segments are consecutive in the path of a key. A name,
// such as that of an LLM, matches any word.
func (v vocabulary) hasKey(segments []string) bool {
	return slices.ContainsFunc(v.keys, func(key []string) bool {
		for at := range len(key) - len(segments) + 1 {
			if slices.EqualFunc(segments, key[at:at+len(segments)], func(s, k string) bool {
				return s == k || strings.HasPrefix(k, "<") || strings.HasPrefix(s, "<")
			}) {
				return true
			}
		}
		return false
	})
}

// settingProblem checks the keys of `key: value`, and of a mapping in it.
func (v vocabulary) settingProblem(text string) string {
	doc, found := dsl.JSON("span.yaml", []byte(text))
	var value any
	if len(found) > 0 || json.Unmarshal(doc, &value) != nil {
		return ""
	}
	return v.unknownKey(value)
}

func (v vocabulary) unknownKey(value any) string {
	mapping, _ := value.(map[string]any)
	for key, inner := range mapping {
		if !v.words[key] && key != "..." {
			return "no such key: " + key
		}
		if problem := v.unknownKey(inner); problem != "" {
			return problem
		}
	}
	return ""
}
