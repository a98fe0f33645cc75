package lsp

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/lsp/outline"
)

// maxHead is the size of the part of a dataset that is read for its columns, in
// bytes.
const maxHead = 64 << 10

// column returns a suite whose dataset has a column with the bare name of a
// parameter, and the file with the column, which may be the suite itself. suite
// is nil if there is none.
func (s *server) column(files []*buffer, d nameUse) (suite *buffer, in string) {
	for _, f := range files {
		set := f.outline().Get("dataset")
		if set.Get("parameters") != nil {
			continue
		}
		if slices.ContainsFunc(set.Get("rows").Entries(), func(row *outline.Node) bool { return row.Get(d.name) != nil }) {
			return f, f.path
		}
		name := set.String() + set.Get("file").String() // one of them, or ""
		if path := s.projectPath(f, name); path != "" && hasColumn(s.head(path), formatOf(name, set.Get("format").String()), d.name) {
			return f, path
		}
	}
	return nil, ""
}

// head returns the start of a file: of its open buffer, or else from disk.
func (s *server) head(path string) string {
	if b := s.paths[path]; b != nil {
		return b.text.s
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // opened for reading only
	text, err := io.ReadAll(io.LimitReader(f, maxHead))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(string(text), outline.ByteOrderMark)
}

// formatOf returns the format of a dataset's file: the declared one, or else by
// its extension.
func formatOf(name, said string) string {
	if said != "" {
		return said
	}
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
}

// hasColumn reports whether a dataset has a column, as far as the start of the file
// shows.
func hasColumn(text, format, column string) bool {
	switch format {
	case "csv":
		names, err := csv.NewReader(strings.NewReader(text)).Read()
		return err == nil && slices.Contains(names, column)
	case "jsonl", "ndjson":
		rows := json.NewDecoder(strings.NewReader(text))
		for {
			var row map[string]json.RawMessage
			if rows.Decode(&row) != nil {
				return false // its end, or truncated
			}
			if row[column] != nil {
				return true
			}
		}
	case "yaml", "yml":
		return slices.ContainsFunc(outline.Parse(text).Entries(), func(row *outline.Node) bool { return row.Get(column) != nil })
	}
	return false
}
