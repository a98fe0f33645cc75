package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// Config configures the sql tool.
type Config struct {
	Path     string `yaml:"path" path:"relative" required:"true" doc:"Database file, relative to this file. It must exist; it is never created."`
	ReadOnly bool   `yaml:"read_only" doc:"Whether only queries are allowed. If false, statements may also change data and tables."`
	MaxRows  int    `yaml:"max_rows" min:"1" max:"10000" doc:"Maximum number of rows per call. The result says if there are more."`
	MaxBytes int    `yaml:"max_bytes" min:"1000" max:"16777216" doc:"Maximum size of the rows of one call, in bytes of JSON."`
}

// Access implements tool.AccessDescriber: nothing.
func (*Config) Access() []string { return nil }

// NeedsHost implements tool.HostBound.
func (c *Config) NeedsHost() string { return "the database " + c.Path }

// SQL is the factory of the sql tool.
var SQL = component.New("sql", "Queries a SQLite database; changes it only if read_only is false.",
	func() Config { return Config{ReadOnly: true, MaxRows: 200, MaxBytes: 24 << 10} }, newSQL)

const input = `{"type":"object","properties":{` +
	`"query":{"type":"string","description":"One SQL statement in SQLite dialect, such as SELECT name, total FROM orders WHERE total > ? ORDER BY total DESC LIMIT 20."},` +
	`"args":{"type":"array","items":{"type":["string","number","boolean","null"]},"description":"Values of the ? placeholders, in order. Pass values here instead of writing them into the query."}` +
	`},"required":["query"],"additionalProperties":false}`

const (
	about = "Runs one SQL statement on a SQLite database and returns the rows. " +
		"Start with SELECT name, sql FROM sqlite_schema to see the tables and columns. " +
		"Long results are truncated: aggregate, filter and LIMIT in the query."
	aboutReading = " The database cannot be changed."
	aboutWriting = " Statements may change the database; each one is a transaction of its own."
)

// maxConcurrent is how many statements one tool runs at a time.
const maxConcurrent = 4

type sqlTool struct {
	info   tool.Info
	config Config
	folder *sandboxfs.Folder
	name   string        // of the file within its folder
	slots  chan struct{} // holds a value per running statement
}

var _ tool.Tool = (*sqlTool)(nil)

func newSQL(c *Config, s tool.Settings) (tool.Tool, error) {
	if c.Path == "" {
		return nil, errors.New("path must name the database file")
	}
	dir, name := filepath.Split(filepath.FromSlash(c.Path))
	if name == "" || name == "." || name == ".." {
		return nil, fmt.Errorf("path %q names a folder; it must name the database file", c.Path)
	}
	f, err := sandboxfs.New(s, dir, nil)
	if err != nil {
		return nil, err
	}
	effect, text := tool.WriteEffect, about+aboutWriting
	if c.ReadOnly {
		effect, text = tool.ReadEffect, about+aboutReading
	}
	return &sqlTool{tool.Info{
		Name: cmp.Or(s.Name, "sql"), Description: cmp.Or(s.Description, text), Input: json.RawMessage(input), Effect: effect,
	}, *c, f, name, make(chan struct{}, maxConcurrent)}, nil
}

// Info implements tool.Tool.
func (t *sqlTool) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *sqlTool) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q, err := parse(call.Args)
	if err != nil {
		return nil, err
	}
	file, err := t.locate()
	if err != nil {
		return nil, err
	}
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for other statements of this tool: %w", ctx.Err())
	}
	found, err := t.work(ctx, file, q)
	if err != nil {
		return nil, err
	}
	return found.output()
}

// query is a model's query.
type query struct {
	text   string
	values []any // nil, string, json.Number or bool
}

// parse parses the arguments.
func parse(raw json.RawMessage) (query, error) {
	var q query
	args, err := tool.Arguments(raw, "query", "args")
	if err != nil {
		return q, err
	}
	if len(args["query"]) > 0 && json.Unmarshal(args["query"], &q.text) != nil {
		return q, errors.New(`argument "query" must be a string`)
	}
	switch {
	case strings.TrimSpace(q.text) == "":
		return q, errors.New(`argument "query" is missing; pass one SQL statement`)
	case strings.ContainsRune(q.text, 0):
		return q, errors.New("the query holds a NUL byte; remove it")
	}
	if len(args["args"]) == 0 {
		return q, nil
	}
	if err := jsonvalue.Unmarshal(args["args"], &q.values); err != nil {
		return q, errors.New(`argument "args" must be a list of values`)
	}
	for i, v := range q.values {
		switch v.(type) {
		case []any, map[string]any:
			return q, fmt.Errorf("args[%d] is a list or an object; pass one value for each placeholder, or JSON as a string for json_each(?)", i)
		}
	}
	return q, nil
}

// file is the database file as located. SQLite opens by path, so the file is compared again after opening.
type file struct {
	path string // absolute, without links
	info fs.FileInfo
}

// locate finds the database in its folder without opening it: closing a file would
// release the locks that SQLite holds on it in this process.
//
// SQLite opens the path with O_NOFOLLOW, including its journals. A race remains: a user
// with write access to the folders above can replace the file in between, and restore it
// before checkUnmoved.
func (t *sqlTool) locate() (file, error) {
	tree, err := t.folder.Open()
	if err != nil {
		return file{}, err
	}
	defer tree.Close()
	info, err := tree.Stat(t.name)
	if err != nil {
		return file{}, fmt.Errorf("the database cannot be opened: %w", err)
	}
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("the database cannot be opened: %q is not a regular file", t.name)
	}
	if !t.config.ReadOnly {
		if err := tree.Changeable(t.name, nil); err != nil {
			return file{}, err
		}
	}
	path, err := filepath.EvalSymlinks(filepath.Join(t.folder.Dir(), t.name))
	if err != nil {
		return file{}, fmt.Errorf("the database cannot be opened: %w", errors.Unwrap(err))
	}
	f := file{path, info}
	return f, f.checkUnmoved()
}

// checkUnmoved returns an error if another file is at the path now.
func (f file) checkUnmoved() error {
	if now, err := os.Lstat(f.path); err != nil || !os.SameFile(now, f.info) {
		return errors.New("the database was replaced while it was opened; call again")
	}
	return nil
}
