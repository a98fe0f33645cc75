package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/fspath"
)

func (c *Chat) export(ctx context.Context, file string) error {
	doc, err := c.markdown(ctx)
	switch {
	case err != nil:
		c.problem(err)
	case file == "":
		c.show(Output, doc)
	default:
		if err := create(file, func(w io.Writer) error { _, err := io.WriteString(w, doc); return err }); err != nil {
			c.problemf("%v", err)
			return nil
		}
		c.note("Wrote %s", fspath.Shown(file))
	}
	return nil
}

// markdown returns the conversation as a document. Turns that have not ended are not part of it.
func (c *Chat) markdown(ctx context.Context) (string, error) {
	content, err := c.o.Client.Conversation(ctx, c.memoryID, c.o.Agent)
	if err != nil && !apiclient.IsCode(err, apiclient.NotFound) {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: conversation %s\n", c.o.Agent, c.memoryID)
	for _, t := range content.Interactions {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", tty.Flat(text.ClipRunes(text.OneLine(t.Question), 100)), strings.TrimRight(tty.Safe(t.Question), "\n"))
		fmt.Fprintf(&b, "\n**%s** (%s, %s):\n\n%s\n", c.o.Agent, t.At.UTC().Format("2006-01-02 15:04:05Z"), t.RunID, strings.TrimRight(tty.Safe(t.Answer), "\n"))
	}
	return b.String(), nil
}

// create writes a file that must not exist. It leaves none that is incomplete.
func create(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; give another name", path)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// promote saves the latest turn as a test: its recording, and a case that replays it.
func (c *Chat) promote(ctx context.Context, name string) error {
	switch {
	case c.run == "" || c.turn.Question == "":
		c.problemf("there is no turn to save yet")
		return nil
	case c.isOpen():
		c.problemf("the turn has not ended yet")
		return nil
	case name == "":
		name = slug(c.turn.Question)
	case name != slug(name):
		c.problemf("a test is named by lower-case words and hyphens, such as %s", slug(name))
		return nil
	}
	cassette := name + ".jsonl"
	if c.o.Tests != "" {
		dir := filepath.Join(c.o.Tests, name)
		if err := os.MkdirAll(dir, 0o750); err != nil {
			c.problemf("%v", err)
			return nil
		}
		cassette = filepath.Join(dir, "cassette.jsonl")
	}
	if err := create(cassette, func(w io.Writer) error { return c.o.Client.Export(ctx, c.run, w) }); err != nil {
		c.problem(err)
		return nil
	}
	c.note("Wrote %s", fspath.Shown(cassette))
	if c.o.Tests == "" {
		c.note("To run it: pexctl run SPEC %s --replay all --from %s", fspath.Quote(text.ClipRunes(text.OneLine(c.turn.Question), 60)), cassette)
		return nil
	}
	c.writeCase(filepath.Join(filepath.Dir(cassette), "case.yaml"))
	return nil
}

// writeCase writes the case that replays the cassette beside it.
func (c *Chat) writeCase(file string) {
	parameters := map[string]any{}
	maps.Copy(parameters, c.o.Parameters)
	parameters["question"] = c.turn.Question
	given, err := json.Marshal(parameters)
	if err != nil {
		c.problemf("%v", err)
		return
	}
	body := fmt.Sprintf("parameters: %s\nrun: {cassette: cassette.jsonl}\n", given)
	if first, _, _ := strings.Cut(strings.TrimSpace(c.turn.Answer), "\n"); first != "" {
		expect, _ := json.Marshal("output contains " + quoted(text.ClipRunes(first, 80))) //nolint:errchkjson // a string can be encoded
		body += fmt.Sprintf("expect: [%s]\n", expect)
	}
	if err := create(file, func(w io.Writer) error { _, err := io.WriteString(w, body); return err }); err != nil {
		c.problemf("%v", err)
		return
	}
	c.note("Wrote %s; to store its golden files: pexctl test %s --update", fspath.Shown(file), fspath.Quote(fspath.Relative(filepath.Dir(file))))
}

// quoted returns a text as a string of an expression.
func quoted(s string) string {
	b, _ := json.Marshal(strings.TrimSuffix(s, "…")) //nolint:errchkjson // a string can be encoded
	return string(b)
}

// slug returns a name for a test, from at most five words of a text.
func slug(s string) string {
	const most = 5
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return "turn"
	}
	return strings.Join(words[:min(most, len(words))], "-")
}
