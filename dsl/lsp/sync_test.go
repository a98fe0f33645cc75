package lsp_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/lsp"
)

func change(uri string, version, line, from, to int, text string) object {
	return object{
		"textDocument":   object{"uri": uri, "version": version},
		"contentChanges": []object{{"range": object{"start": object{"line": line, "character": from}, "end": object{"line": line, "character": to}}, "text": text}},
	}
}

// TestPositionsUseTheNegotiatedEncoding: a character outside the BMP is two units of
// UTF-16 and four of UTF-8.
func TestPositionsUseTheNegotiatedEncoding(t *testing.T) {
	text := spec + "planner: {system_prompt: \"😀é ${parameters.teir}\"}\n"
	cases := []struct {
		name, want   string
		capabilities object
		start        int
	}{
		{"UTF-16 by default", "utf-16", object{}, 30},
		{"UTF-8 where it is offered", "utf-8", object{"general": object{"positionEncodings": []string{"utf-16", "utf-8"}}}, 33},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			uri := project(t, nil)("spec.yaml")
			cl := connect(t, dsl.Options{})
			var r struct {
				Capabilities struct{ PositionEncoding string }
			}
			cl.ask("initialize", object{"capabilities": c.capabilities}, &r)
			if r.Capabilities.PositionEncoding != c.want {
				t.Errorf("encoding %s", r.Capabilities.PositionEncoding)
			}
			cl.open(uri, text, 1)
			d := cl.diagnostics(uri, 1)
			if codes(d) != "PEX030" || d.Diagnostics[0].Range.Start.Character != c.start {
				t.Fatalf("%+v", d)
			}
			cl.tell("textDocument/didChange", change(uri, 2, 6, c.start+13, c.start+17, "tier"))
			if d := cl.diagnostics(uri, 2); len(d.Diagnostics) > 0 {
				t.Errorf("after the change: %+v", d)
			}
		})
	}
}

func TestBuffersReplaceFiles(t *testing.T) {
	uri := project(t, map[string]string{
		"lib.yaml":     "apiVersion: pex/v1\nkind: Library\nprompts: {who: A planner.}\n",
		"prompts/p.md": "Hello ${parameters.tier}",
		"spec.yaml":    spec + "include: [lib.yaml]\nplanner: {system_prompt: {use: who}}\nexecutor: {system_prompt: {file: prompts/p.md}}\n",
	})
	c := connect(t, dsl.Options{})
	c.begin(object{})
	c.open(uri("spec.yaml"), spec+"include: [lib.yaml]\nplanner: {system_prompt: {use: who}}\nexecutor: {system_prompt: {file: prompts/p.md}}\n", 1)
	if d := c.diagnostics(uri("spec.yaml"), 1); len(d.Diagnostics) > 0 {
		t.Fatalf("%+v", d)
	}
	t.Run("a library that is changed refreshes the specs that include it", func(t *testing.T) {
		c.open(uri("lib.yaml"), "apiVersion: pex/v1\nkind: Library\nprompts: {whom: A planner.}\n", 1)
		for d := c.diagnostics(uri("spec.yaml"), 0); codes(d) != "PEX022"; {
			d = c.diagnostics(uri("spec.yaml"), 0)
		}
		c.tell("textDocument/didClose", object{"textDocument": object{"uri": uri("lib.yaml")}})
		for d := c.diagnostics(uri("spec.yaml"), 0); codes(d) != ""; {
			d = c.diagnostics(uri("spec.yaml"), 0)
		}
	})
	t.Run("a prompt has diagnostics of its own, cleared when it is mended", func(t *testing.T) {
		c.open(uri("prompts/p.md"), "Hello ${parameters.teir}", 1)
		if d := c.diagnostics(uri("prompts/p.md"), 1); codes(d) != "PEX030" {
			t.Errorf("%+v", d)
		}
		c.tell("textDocument/didChange", change(uri("prompts/p.md"), 2, 0, 19, 23, "tier"))
		if d := c.diagnostics(uri("prompts/p.md"), 2); codes(d) != "" {
			t.Errorf("%+v", d)
		}
	})
}

func TestAPromptAloneFindsItsSpec(t *testing.T) {
	uri := project(t, map[string]string{
		"pex.lock":  "",
		"p.md":      "x",
		"spec.yaml": spec + "planner: {system_prompt: {file: p.md}}\n",
	})
	c := connect(t, dsl.Options{})
	c.begin(object{})
	c.open(uri("p.md"), "Hello ${parameters.teir}", 1)
	if d := c.diagnostics(uri("p.md"), 1); codes(d) != "PEX030" {
		t.Errorf("%+v", d)
	}
}

func TestOtherFilesAreIgnored(t *testing.T) {
	uri := project(t, nil)
	c := connect(t, dsl.Options{})
	c.begin(object{})
	c.open(uri("deploy.yaml"), "apiVersion: apps/v1\nkind: Agent\nspec: {}\n", 1)
	c.open(uri("spec.yaml"), spec, 1)
	c.tell("textDocument/didChange", change(uri("spec.yaml"), 2, 2, 0, 8, "metadatum"))
	for d := range c.told {
		if d.URI == uri("deploy.yaml") {
			t.Errorf("%+v", d)
		}
		if d.URI == uri("spec.yaml") && d.Version == 2 {
			break
		}
	}
}

func TestLifeOfAServer(t *testing.T) {
	t.Run("before initialize", func(t *testing.T) {
		c := connect(t, dsl.Options{})
		_, err := c.Call(context.Background(), "textDocument/hover", at("file:///x", 0, 0))
		var e *jrpc2.Error
		if !errors.As(err, &e) || e.Code != -32002 {
			t.Errorf("%v", err)
		}
	})
	t.Run("after shutdown", func(t *testing.T) {
		c := connect(t, dsl.Options{})
		c.begin(object{})
		c.ask("shutdown", nil, nil)
		if _, err := c.Call(context.Background(), "textDocument/hover", at("file:///x", 0, 0)); err == nil {
			t.Error("it still answers")
		}
		c.tell("exit", nil)
		if err := <-c.ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		c.ended <- nil
	})
	t.Run("exit without shutdown", func(t *testing.T) {
		c := connect(t, dsl.Options{})
		c.begin(object{})
		c.tell("exit", nil)
		err := <-c.ended
		if !errors.Is(err, lsp.ErrNoShutdown) {
			t.Errorf("ended with %v", err)
		}
		c.ended <- nil
	})
}

// TestHostileInput: invalid messages end the server, and allocate no memory.
func TestHostileInput(t *testing.T) {
	cases := []struct{ name, input, want string }{
		{"no header", "hello\r\n\r\n", "invalid header line"},
		{"a header without an end", strings.Repeat("x", 10_000), "longer than 4096 bytes"},
		{"more than there is room for", "Content-Length: 99999999999\r\n\r\n{}", "the message has 99999999999 bytes"},
		{"more than a number holds", "content-length: 99999999999999999999\r\n\r\n{}", "the maximum is"},
		{"less than nothing", "Content-Length: -5\r\n\r\n{}", "invalid content-length"},
		{"a body that is cut", "Content-Length: 50\r\n\r\n{", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, out := io.Pipe()
			err := lsp.Serve(t.Context(), strings.NewReader(c.input), out, lsp.Options{Spec: dsl.Options{Catalog: catalog}})
			if !errors.Is(err, lsp.ErrNoShutdown) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("ended with %v, want %s", err, c.want)
			}
		})
	}
}

// TestHostileDocuments: no document causes a log entry or ends the server.
func TestHostileDocuments(t *testing.T) {
	deep := strings.Repeat("a: {", 20_000)
	cases := []struct{ name, uri, text string }{
		{"deep braces", "file:///tmp/none/deep.yaml", spec + deep},
		{"deep indentation", "file:///tmp/none/in.yaml", spec + staircase(1500)},
		{"deep lists", "file:///tmp/none/list.yaml", spec + "x: " + strings.Repeat("- ", 20_000)},
		{"a large text", "file:///tmp/none/large.yaml", spec + strings.Repeat("x y\n", 300_000)},
		{"quotes that never close", "file:///tmp/none/q.yaml", spec + strings.Repeat("a: \"b\n", 20_000)},
		{"a file that is too large to keep", "file:///tmp/none/huge.yaml", strings.Repeat("a", 3<<20)},
		{"no scheme", "spec.yaml", spec},
		{"a strange file", "file://%20", spec},
		{"an unfinished escape", "file:///%zz", spec},
		{"a document that was never saved", "untitled:Untitled-1", spec},
		{"a path of Windows", "file:///C:/a/spec.yaml", spec},
		{"a NUL", "file:///a%00b.yaml", spec},
		{"nothing", "", ""},
		{"bytes that are no text", "file:///tmp/none/b.yaml", "apiVersion: pex/v1\nkind: \xff\xfe\n"},
	}
	for _, x := range cases {
		t.Run(x.name, func(t *testing.T) {
			if testing.Short() && len(x.text) > 100_000 {
				t.Skip("its size is the work of one goroutine: left to the runs without -short")
			}
			c := connect(t, dsl.Options{})
			c.begin(object{})
			c.open(x.uri, x.text, 1)
			for _, method := range []string{"completion", "hover", "definition", "documentSymbol", "formatting"} {
				c.ask("textDocument/"+method, at(x.uri, 6, 1<<30), nil)
				c.ask("textDocument/"+method, at(x.uri, -1, -1), nil)
			}
			if _, err := c.Call(context.Background(), "textDocument/hover", []int{1}); err == nil {
				t.Error("params of another form are taken")
			}
		})
	}
}

func staircase(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// FuzzAnswers checks that for any document, every request at every position has a
// response.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{spec, spec + "planner: {llm: ", spec + "guards:\n- when: run.\n", "a:\n - - b: |\n  x", "{a: [b, {c", "? x\n: y", "\r\n\t- ':"} {
		f.Add(s, 3, 4)
	}
	f.Fuzz(func(t *testing.T, text string, line, character int) {
		c := connect(t, dsl.Options{})
		c.begin(object{"textDocument": object{"completion": object{"completionItem": object{"snippetSupport": true}}}})
		uri := "file:///nowhere/spec.yaml"
		c.open(uri, text, 1)
		for _, method := range []string{"completion", "hover", "definition", "references", "documentSymbol"} {
			p := at(uri, line, character)
			p["context"] = object{"includeDeclaration": true}
			c.ask("textDocument/"+method, p, nil)
		}
	})
}

// TestByteOrderMarkIsIgnored: a file that starts with one is an ordinary spec.
func TestByteOrderMarkIsIgnored(t *testing.T) {
	uri := project(t, nil)("spec.yaml")
	cl := connect(t, dsl.Options{})
	cl.begin(object{})
	cl.open(uri, "\ufeff"+spec+"planner: {system_prompt: \"${parameters.teir}\"}\n", 1)
	if p := cl.diagnostics(uri, 1); len(p.Diagnostics) != 1 || p.Diagnostics[0].Range.Start.Line != 6 {
		t.Errorf("%+v", p)
	}
	var found []struct {
		Range struct{ Start struct{ Line int } }
	}
	cl.ask("textDocument/definition", at(uri, 6, 40), &found)
	if len(found) != 0 { // teir is not defined
		t.Errorf("%+v", found)
	}
	p := at(uri, 3, 15)
	p["context"] = object{"includeDeclaration": true}
	if cl.ask("textDocument/references", p, &found); len(found) != 1 || found[0].Range.Start.Line != 3 {
		t.Errorf("%+v", found)
	}
}
