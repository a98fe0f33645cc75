package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/builtins/tool/table"
	"github.com/pexctl/pex/dsl/jsonpath"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// JSONQueryConfig configures json_query.
type JSONQueryConfig struct {
	Root     string   `yaml:"root" path:"relative" doc:"Folder whose files can be queried, relative to this file. Default: the spec's folder."`
	Exclude  []string `yaml:"exclude" doc:"Names of files and folders that cannot be accessed, at any depth. Shell wildcards such as * are allowed."`
	MaxBytes int64    `yaml:"max_bytes" min:"1" max:"268435456" doc:"Maximum document size in bytes. The document is held in memory."`
}

// Access implements tool.AccessDescriber.
func (*JSONQueryConfig) Access() []string { return nil }

// NeedsHost implements tool.HostBound.
func (c *JSONQueryConfig) NeedsHost() string { return tool.FilesBelow(c.Root) }

// ReadsFiles implements tool.FileReader.
func (c *JSONQueryConfig) ReadsFiles() (root string, given bool) { return c.Root, true }

// JSONQuery queries and aggregates JSON and tables.
var JSONQuery = component.New("json_query", "Queries JSON, JSON Lines and CSV with JSONPath, with exact aggregation.",
	func() JSONQueryConfig { return JSONQueryConfig{Exclude: sandboxfs.Hidden(), MaxBytes: 16 << 20} }, newJSONQuery)

const jsonQueryInput = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"Path of the file to query: .json, .jsonl, .csv or .tsv. Pass either path or json."},` +
	`"json":{"type":"string","description":"The document as text, instead of path."},` +
	`"format":{"type":"string","enum":["json","jsonl","csv","tsv"],"description":"Format (default: from the file extension). JSON Lines, CSV and TSV become a list; CSV and TSV rows become objects keyed by column name."},` +
	`"query":{"type":"string","description":"RFC 9535 JSONPath, such as $[?@.region == 'EU'].amount or $.items[0] (default: $, everything)."},` +
	`"aggregate":{"type":"object","description":"Aggregates the selected values, one result row per group.","properties":{` +
	`"op":{"type":"string","enum":["count","sum","min","max","avg"]},` +
	`"field":{"type":"string","description":"Field of each selected object; use dots for nested fields (default: the selected values themselves)."},` +
	`"group_by":{"type":"array","items":{"type":"string"},"description":"Fields to group by, such as [\"region\", \"year\"]."}` +
	`},"required":["op"],"additionalProperties":false}` +
	`},"required":[],"additionalProperties":false}`

const maxAnswer = 40 << 10 // bytes of JSON; longer lists are truncated with a note

type jsonQuery struct {
	info     tool.Info
	folder   *sandboxfs.Folder
	maxBytes int64
}

var _ tool.Tool = (*jsonQuery)(nil)

func newJSONQuery(c *JSONQueryConfig, s tool.Settings) (tool.Tool, error) {
	f, err := sandboxfs.New(s, c.Root, c.Exclude)
	if err != nil {
		return nil, err
	}
	return &jsonQuery{toolInfo(s, "json_query",
		"Selects values from a JSON, JSON Lines or CSV file, or from JSON text, with JSONPath. Can count, sum and average them exactly, by group. Use it for tables and totals instead of reading the whole file.",
		jsonQueryInput, tool.ReadEffect), f, c.MaxBytes}, nil
}

// Info implements tool.Tool.
func (t *jsonQuery) Info() tool.Info { return t.info }

type jsonQueryArgs struct {
	Path      string     `json:"path"`
	JSON      string     `json:"json"`
	Format    string     `json:"format"`
	Query     string     `json:"query"`
	Aggregate *aggregate `json:"aggregate"`
}

type aggregate struct {
	Op      string   `json:"op"`
	Field   string   `json:"field"`
	GroupBy []string `json:"group_by"`
}

// Call implements tool.Tool.
func (t *jsonQuery) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[jsonQueryArgs](ctx, call)
	if err != nil {
		return nil, err
	}
	query := cmp.Or(args.Query, "$")
	path, err := jsonpath.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	document, err := t.document(ctx, call, args)
	if err != nil {
		return nil, err
	}
	found, err := path.Select(document)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	if args.Aggregate != nil {
		return args.Aggregate.of(found)
	}
	if len(found) == 1 && single(query) {
		return answer(found[0], "")
	}
	return answer(found, "")
}

// document returns the document to query.
func (t *jsonQuery) document(ctx context.Context, call *tool.Call, args jsonQueryArgs) (any, error) {
	name, data := `argument "json"`, []byte(args.JSON)
	switch {
	case args.Path != "" && args.JSON != "":
		return nil, errors.New(`pass either "path" or "json", not both`)
	case args.Path == "" && args.JSON == "":
		return nil, errors.New(`pass the "path" of a file, or a document as "json"`)
	case args.Path != "":
		var err error
		if data, err = t.file(call, args.Path); err != nil {
			return nil, err
		}
		name = fmt.Sprintf("%q", args.Path)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v, err := table.Decode(data, cmp.Or(args.Format, table.Format(args.Path)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

func (t *jsonQuery) file(call *tool.Call, name string) ([]byte, error) {
	tree, path, err := openFile(t.folder, call, name)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	f, _, err := tree.File(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, t.maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	if int64(len(data)) > t.maxBytes {
		return nil, fmt.Errorf("%q is larger than the limit of %d bytes; search it by lines instead", path, t.maxBytes)
	}
	return data, nil
}

// of applies the aggregation. If the query selects one list, it applies to the list's
// elements.
func (a *aggregate) of(found []any) (*tool.Output, error) {
	if len(found) == 1 {
		if list, ok := found[0].([]any); ok {
			found = list
		}
	}
	rows, leftOut, err := table.Aggregate(found, table.Summary{Op: a.Op, Field: a.Field, GroupBy: a.GroupBy})
	if err != nil {
		return nil, err
	}
	note := ""
	if leftOut > 0 {
		note = fmt.Sprintf("[%s without %s left out]", text.Count(leftOut, "row"), cmp.Or(a.Field, "a value"))
	}
	if len(a.GroupBy) == 0 {
		return answer(rows[0], note)
	}
	list := make([]any, len(rows))
	for i, row := range rows {
		list[i] = row
	}
	return answer(list, note)
}

// answer returns a value as JSON. A list that is too long is truncated and returned as
// text, so that nothing mistakes it for the complete list.
func answer(v any, note string) (*tool.Output, error) {
	data, err := jsonvalue.Marshal(v)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	switch {
	case len(data) > maxAnswer && ok:
		return truncatedList(list, note)
	case note == "":
		return &tool.Output{Data: data}, nil
	}
	return &tool.Output{Text: string(data) + "\n" + note, Data: data}, nil
}

func truncatedList(list []any, note string) (*tool.Output, error) {
	var out strings.Builder
	shown := 0
	for _, v := range list {
		data, err := jsonvalue.Marshal(v)
		if err != nil {
			return nil, err
		}
		if out.Len()+len(data) > maxAnswer && shown > 0 {
			break
		}
		out.Write(data)
		out.WriteByte('\n')
		shown++
	}
	fmt.Fprintf(&out, "[%d of %d values shown, one a line; narrow the query, take a slice such as $[%d:%d], or use aggregate]",
		shown, len(list), shown, 2*shown)
	return &tool.Output{Text: strings.TrimSpace(out.String() + "\n" + note)}, nil
}

// single reports whether a query selects at most one value, that is, consists only of
// names and indexes.
func single(query string) bool {
	quote := rune(0)
	for i, c := range query {
		switch {
		case quote != 0:
			if c == quote && query[i-1] != '\\' {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.ContainsRune("*?:,", c), strings.HasPrefix(query[i:], ".."):
			return false
		}
	}
	return true
}
