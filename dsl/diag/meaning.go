package diag

import (
	"cmp"
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// CodeDoc is the documentation of a code: one file of codes/.
type CodeDoc struct {
	Code    Code    `json:"code"`
	Title   string  `json:"title"`   // the mistake in one line
	Meaning string  `json:"meaning"` // why it matters and how to fix it
	Wrong   Example `json:"wrong"`   // reports the code
	Right   Example `json:"right"`   // reports nothing
}

// Example is a set of files in one folder. The first one is vetted.
type Example struct {
	Files   []File `json:"files"`
	Command string `json:"command"` // if vetting needs flags; otherwise ""
}

// File is a file of an example.
type File struct {
	Name     string `json:"name"` // with slashes
	Language string `json:"language"`
	Text     string `json:"text"`
}

//go:embed codes/*.md
var pages embed.FS

// codes are read on first use, because most commands do not need them.
var codes = sync.OnceValue(readCodes)

// Codes returns every documented code, sorted.
func Codes() []CodeDoc { return slices.Clone(codes()) }

// Explain returns the documentation of a code. ok is false if there is no such
// code.
func Explain(code string) (m CodeDoc, ok bool) {
	i, ok := slices.BinarySearchFunc(codes(), code, func(m CodeDoc, code string) int { return cmp.Compare(string(m.Code), code) })
	if !ok {
		return CodeDoc{}, false
	}
	return codes()[i], true
}

// readCodes reads all pages. They are embedded and a test reads each one, so
// malformed parts are left empty.
func readCodes() []CodeDoc {
	names, _ := fs.Glob(pages, "codes/*.md") // sorted; the pattern is valid
	out := make([]CodeDoc, 0, len(names))
	for _, name := range names {
		text, _ := pages.ReadFile(name)
		m := readMeaning(string(text))
		m.Code = Code(strings.TrimSuffix(path.Base(name), ".md"))
		out = append(out, m)
	}
	return out
}

// readMeaning parses one page: a title, a paragraph, and the sections Wrong and
// Right.
func readMeaning(page string) CodeDoc {
	head, sections, _ := strings.Cut(page, "\n## Wrong\n")
	wrong, right, _ := strings.Cut(sections, "\n## Right\n")
	title, meaning, _ := strings.Cut(strings.TrimPrefix(head, "# "), "\n")
	return CodeDoc{
		Title: strings.TrimSpace(title), Meaning: strings.Join(strings.Fields(meaning), " "),
		Wrong: readExample(wrong), Right: readExample(right),
	}
}

// readExample parses the fenced blocks of a section: ```yaml NAME is a file,
// ```sh the command.
func readExample(section string) (e Example) {
	for block := range strings.SplitSeq("\n"+section, "\n```") {
		head, text, _ := strings.Cut(block, "\n")
		language, name, named := strings.Cut(strings.TrimSpace(head), " ")
		switch {
		case named:
			e.Files = append(e.Files, File{Name: name, Language: language, Text: text + "\n"})
		case language == "sh":
			e.Command = strings.TrimSpace(text)
		}
	}
	return e
}

// Body returns a page without its title, in Markdown: the meaning and both
// examples.
func (m CodeDoc) Body() string {
	var b strings.Builder
	b.WriteString(m.Meaning + "\n")
	for _, part := range []struct {
		head string
		e    Example
	}{{"Wrong", m.Wrong}, {"Right", m.Right}} {
		if len(part.e.Files) > 0 {
			b.WriteString("\n" + part.head + ":\n" + part.e.markdown())
		}
	}
	return b.String()
}

func (e Example) markdown() string {
	var b strings.Builder
	for _, f := range e.Files {
		b.WriteString("\n```" + f.Language + " " + f.Name + "\n" + f.Text + "```\n")
	}
	if e.Command != "" {
		b.WriteString("\n```sh\n" + e.Command + "\n```\n")
	}
	return b.String()
}

// text returns an example as plain text.
func (e Example) text() string {
	var b strings.Builder
	for _, f := range e.Files {
		b.WriteString("\n" + f.Name + ":\n" + f.Text)
	}
	return b.String()
}
