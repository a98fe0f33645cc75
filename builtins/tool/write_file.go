package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// WriteFileConfig configures write_file.
type WriteFileConfig struct {
	Root     string   `yaml:"root" path:"relative" required:"vet" missing:"write the folder that the model may write to, as in write_file: {root: out}" doc:"Folder that files are written below; relative to the file that names it, created when missing. vet requires it: a run without it warns and writes to the spec's folder. What a later run, a test, CI or a tool executes is closed everywhere."`
	Exclude  []string `yaml:"exclude" doc:"Names of files and folders that cannot be accessed, at any depth. Shell wildcards such as * are allowed."`
	MaxBytes int      `yaml:"max_bytes" min:"1" max:"1073741824" doc:"Maximum file size in bytes."`
}

// Access implements tool.AccessDescriber.
func (*WriteFileConfig) Access() []string { return nil }

// NeedsHost implements tool.HostBound.
func (c *WriteFileConfig) NeedsHost() string { return tool.FilesBelow(c.Root) }

// WrittenFile implements tool.FileWriter.
func (*WriteFileConfig) WrittenFile(args json.RawMessage) (path, content string, ok bool) {
	var a writeFileArgs
	if json.Unmarshal(args, &a) != nil || a.Content == nil {
		return "", "", false
	}
	return a.Path, *a.Content, true
}

// writeFileArgs are the arguments of a call.
type writeFileArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

// WriteFile writes text files below a folder.
var WriteFile = component.New("write_file", "Writes a whole text file below a folder.",
	func() WriteFileConfig { return WriteFileConfig{Exclude: sandboxfs.Hidden(), MaxBytes: 10 << 20} }, newWriteFile)

const writeFileInput = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"Path of the file, relative to the root folder, such as reports/2026/may.md. Missing folders are created."},` +
	`"content":{"type":"string","description":"The complete new content of the file."}` +
	`},"required":["path","content"],"additionalProperties":false}`

var _ tool.FileWriter = (*WriteFileConfig)(nil)

type writeFile struct {
	info     tool.Info
	folder   *sandboxfs.Folder
	maxBytes int
}

var _ tool.Tool = (*writeFile)(nil)

func newWriteFile(c *WriteFileConfig, s tool.Settings) (tool.Tool, error) {
	f, err := sandboxfs.New(s, c.Root, c.Exclude)
	if err != nil {
		return nil, err
	}
	return &writeFile{toolInfo(s, "write_file",
		"Writes a text file, replacing any previous content. Pass the complete content; appending and editing are not supported.",
		writeFileInput, tool.WriteEffect), f, c.MaxBytes}, nil
}

// Info implements tool.Tool.
func (t *writeFile) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *writeFile) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[writeFileArgs](ctx, call)
	switch {
	case err != nil:
		return nil, err
	case args.Path == "":
		return nil, errors.New(`argument "path" is missing; pass the path of a file`)
	case args.Content == nil:
		return nil, errors.New(`argument "content" is missing; pass "" to empty a file`)
	case len(*args.Content) > t.maxBytes:
		return nil, fmt.Errorf("the content has %d bytes, the limit is %d", len(*args.Content), t.maxBytes)
	}
	tree, err := t.folder.Make()
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	path, err := tree.Clean(args.Path)
	if err != nil {
		return nil, err
	}
	existed, err := tree.Write(ctx, path, []byte(*args.Content))
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return nil, tool.Definite(err) // it failed before the file was renamed into place
	case err != nil:
		return nil, err
	}
	done := "created"
	if existed {
		done = "replaced"
	}
	return &tool.Output{Text: fmt.Sprintf("%s %s: %s written", done, path, text.Count(len(*args.Content), "byte"))}, nil
}
