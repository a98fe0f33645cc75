package promptfoo

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

// prompt is one prompt as templates.
type prompt struct {
	label        string
	system, user string
	vars         []string
}

// readPrompts reads all prompts; there is at least one.
func (c *config) readPrompts() {
	at := c.root.Get("prompts")
	items := []*tree.Value{}
	switch {
	case at == nil:
	case at.Kind == tree.List:
		items = at.Items
	case at.Kind == tree.Object: // file: label
		for i, label := range at.Items {
			items = append(items, &tree.Value{File: at.File, Path: label.Path, Kind: tree.Text, Text: at.Keys[i]})
			label.Use()
		}
	default:
		items = append(items, at)
	}
	for _, it := range items {
		label, text := it.Get("label").UseText(), it
		if it.Kind == tree.Object {
			text = tree.First(it.Get("raw"), it.Get("content"), it.Get("prompt"), it.Get("id"))
			it.Get("id").Use()
			c.Note(it.Get("config"), convert.Dropped, "settings belong to an llm, not to a prompt")
		}
		if text == nil {
			c.Note(it, convert.Todo, "the prompt has no text")
			continue
		}
		c.addPrompts(text, label)
	}
	if len(c.prompts) == 0 {
		c.prompts = append(c.prompts, prompt{label: "prompt", user: "${parameters.prompt}", vars: []string{"prompt"}})
		if at == nil {
			c.NoteAt(c.root.File, ".", convert.Changed, "without prompts the variable prompt is what the model is asked")
		}
	}
}

// addPrompts adds the prompts of a text, or of the file that it names.
func (c *config) addPrompts(it *tree.Value, label string) {
	text := c.UseRedacted(it)
	ref, isFile := strings.CutPrefix(text, "file://")
	ext := strings.ToLower(path.Ext(strings.Split(ref, ":")[0]))
	isFile = isFile || !strings.ContainsAny(text, "\n {") && slices.Contains([]string{".txt", ".json", ".yaml", ".yml", ".md", ".js", ".py", ".j2"}, ext)
	if !isFile {
		c.addPrompt(it, label, text)
		return
	}
	if !slices.Contains([]string{".txt", ".json", ".yaml", ".yml", ".md", ".j2"}, ext) {
		c.Note(it, convert.Todo, "%s is code or a pattern: write its prompt by hand", tree.Clip(ref))
		return
	}
	if label == "" {
		label = strings.TrimSuffix(path.Base(ref), ext)
	}
	b, err := c.open(ref)
	if err != nil {
		c.Note(it, convert.Todo, "the file cannot be read: %s: write its prompt by hand", tree.OneLine(err.Error()))
		return
	}
	parts := []string{string(b)}
	if ext == ".txt" {
		parts = regexp.MustCompile(`(?m)^---\s*$`).Split(string(b), -1)
	}
	for _, part := range parts {
		if strings.TrimSpace(part) != "" {
			c.addPrompt(it, label, strings.TrimSpace(part))
		}
	}
}

// addPrompt adds one prompt: a text, or messages as JSON or YAML.
func (c *config) addPrompt(it *tree.Value, label, text string) {
	p := prompt{label: label}
	if p.label == "" {
		p.label = "prompt"
	}
	if system, user, ok := messages(text); ok {
		p.system = c.template(it, &p, system)
		text = user
	}
	p.user = c.template(it, &p, text)
	if p.user == "" {
		p.user = "${parameters.question}"
	}
	c.prompts = append(c.prompts, p)
}

// messages splits the messages of a chat. ok is false if the text is not one.
// Several messages of user and assistant become one text.
func messages(text string) (system, user string, ok bool) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "[") && !strings.HasPrefix(trimmed, "- role:") {
		return "", "", false
	}
	roots, _, err := tree.ReadAny(convert.Input{Text: []byte(trimmed)})
	if err != nil || roots[0].Kind != tree.List || len(roots[0].Items) == 0 {
		return "", "", false
	}
	var rest []string
	all := roots[0].Items
	for _, m := range all {
		role, content := m.Get("role").Peek(), m.Get("content").Peek()
		if role == "" || content == "" {
			return "", "", false // images, or no messages
		}
		switch {
		case role == "system" || role == "developer":
			system = strings.TrimPrefix(system+"\n\n"+content, "\n\n")
		case role == "user" && m == all[len(all)-1] && len(rest) == 0:
			rest = append(rest, content)
		default:
			rest = append(rest, role+": "+content)
		}
	}
	return system, strings.Join(rest, "\n\n"), true
}

var (
	// reference matches a variable in a template, with an optional filter.
	reference = text.Regexp(`\{\{-?\s*([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*(?:\|\s*(\w+)[^}]*)?-?\}\}`)
	// statement matches the rest of the template language.
	statement = text.Regexp(`\{%.*?%\}|\{\{.*?\}\}`)
)

// template converts a template of a prompt.
func (c *config) template(it *tree.Value, p *prompt, text string) string {
	text = tree.EscapeReferences(text)
	text = reference().ReplaceAllStringFunc(text, func(s string) string {
		m := reference().FindStringSubmatch(s)
		if m[1] == "env" {
			return s
		}
		if !slices.Contains(p.vars, m[1]) {
			p.vars = append(p.vars, m[1])
		}
		if m[2] != "" {
			c.data[m[1]] = true
		}
		filter := ""
		if m[3] == "dump" || m[3] == "tojson" {
			filter = "|json"
		}
		return "${parameters." + m[1] + m[2] + filter + "}"
	})
	if rest := statement().FindString(text); rest != "" {
		c.NoteAt(it.File, it.Path, convert.Todo, "templates here have references and no statements: rewrite %s", tree.Clip(rest))
	}
	return text
}
