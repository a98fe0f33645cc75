package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// Supported formats.
const (
	JSON  = "json"
	JSONL = "jsonl" // one JSON value per line
	CSV   = "csv"   // the first row contains the column names
	TSV   = "tsv"
)

// Format returns the format that a file name indicates, JSON by default.
func Format(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".jsonl", ".ndjson":
		return JSONL
	case ".csv":
		return CSV
	case ".tsv", ".tab":
		return TSV
	}
	return JSON
}

// Decode decodes a document. Numbers become json.Number. A CSV column is numeric if every
// non-empty cell is a plain number; its empty cells become null. Cells of other columns
// are strings.
func Decode(data []byte, format string) (any, error) {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	switch format {
	case CSV:
		return rows(data, ',')
	case TSV:
		return rows(data, '\t')
	case JSONL:
		return lines(data)
	}
	v, rest, err := value(data)
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the document is empty")
	case err != nil:
		return nil, fmt.Errorf("invalid JSON: %w%s", err, lineOf(data, err))
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, errors.New(`there is more after the first JSON value; pass "format": "jsonl" for one value a line`)
	}
	return v, nil
}

func value(data []byte) (v any, rest []byte, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, nil, err
	}
	return v, data[d.InputOffset():], nil
}

// lineOf returns the line of a syntax error.
func lineOf(data []byte, err error) string {
	var s *json.SyntaxError
	if !errors.As(err, &s) {
		return ""
	}
	return fmt.Sprintf(" (line %d)", 1+bytes.Count(data[:min(int(s.Offset), len(data))], []byte{'\n'}))
}

func lines(data []byte) (any, error) {
	out, n := []any{}, 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		v, rest, err := value(line)
		if err == nil && len(bytes.TrimSpace(rest)) > 0 {
			err = errors.New("more than one value")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d is not a JSON value: %w", n, err)
		}
		out = append(out, v)
	}
	return out, nil
}

var number = text.Regexp(`^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$`)

func rows(data []byte, comma rune) (any, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = comma
	r.TrimLeadingSpace = comma == ','
	cells, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("invalid CSV: %w", err)
	}
	if len(cells) == 0 {
		return nil, errors.New("the table is empty: it must start with a row of column names")
	}
	head := cells[0]
	seen := map[string]bool{}
	for i, name := range head {
		if head[i] = strings.TrimSpace(name); seen[head[i]] {
			return nil, fmt.Errorf("two columns are named %q", head[i])
		}
		seen[head[i]] = true
	}
	numeric := make([]bool, len(head))
	for c := range head {
		numeric[c] = isNumeric(cells[1:], c)
	}
	out := make([]any, 0, len(cells)-1)
	for _, row := range cells[1:] {
		m := make(map[string]any, len(head))
		for c, name := range head {
			m[name] = cell(row[c], numeric[c])
		}
		out = append(out, m)
	}
	return out, nil
}

func isNumeric(cells [][]string, c int) bool {
	some := false
	for _, row := range cells {
		if row[c] == "" {
			continue
		}
		if some = number().MatchString(row[c]); !some {
			return false
		}
	}
	return some
}

func cell(s string, numeric bool) any {
	switch {
	case !numeric:
		return s
	case s == "":
		return nil
	}
	return json.Number(s)
}
