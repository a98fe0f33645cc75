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

// CodeDoc is a code's entry in the reference: one file of codes/.
type CodeDoc struct {
	Code    Code    `json:"code"`
	Title   string  `json:"title"`   // what is wrong, in a line
	Meaning string  `json:"meaning"` // why it matters and the way out
	Wrong   Example `json:"wrong"`   // reports the code
	Right   Example `json:"right"`   // reports nothing
}

// Example is files that lie beside each other; the first is vetted.
type Example struct {
	Files   []File `json:"files"`
	Command string `json:"command"` // where vetting it takes flags; else ""
}

// File is one of an example.
type File struct {
	Name     string `json:"name"` // with slashes
	Language string `json:"language"`
	Text     string `json:"text"`
}

//go:embed codes/*.md
var pages embed.FS

// codes are read when first asked for: most commands explain nothing.
var codes = sync.OnceValue(readCodes)

// Codes lists every code that is documented, in order.
func Codes() []CodeDoc { return slices.Clone(codes()) }

// Explain gives the entry of a code; ok is false when there is no such code.
func Explain(code string) (m CodeDoc, ok bool) {
	i, ok := slices.BinarySearchFunc(codes(), code, func(m CodeDoc, code string) int { return cmp.Compare(string(m.Code), code) })
	if !ok {
		return CodeDoc{}, false
	}
	return codes()[i], true
}

// readCodes reads all pages. They are part of the program, and a test reads
// each: what is not well formed is left empty.
func readCodes() []CodeDoc {
	names, _ := fs.Glob(pages, "codes/*.md") // sorted; the pattern is well formed
	out := make([]CodeDoc, 0, len(names))
	for _, name := range names {
		text, _ := pages.ReadFile(name)
		m := readMeaning(string(text))
		m.Code = Code(strings.TrimSuffix(path.Base(name), ".md"))
		out = append(out, m)
	}
	return out
}

// readMeaning reads one page: a title, a paragraph, and the sections Wrong and
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

// readExample reads the fenced blocks of a section: ```yaml NAME is a file,
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

// Body returns what a page says below its title, in Markdown: the meaning and both
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

// text is an example without any marks.
func (e Example) text() string {
	var b strings.Builder
	for _, f := range e.Files {
		b.WriteString("\n" + f.Name + ":\n" + f.Text)
	}
	return b.String()
}
