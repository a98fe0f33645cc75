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

// The formats.
const (
	JSON  = "json"
	JSONL = "jsonl" // a JSON value a line
	CSV   = "csv"   // the first row names the columns
	TSV   = "tsv"
)

// Format is the format that a file's name speaks of; JSON when it is silent.
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

// Decode reads a document. Numbers are json.Number. A column of a CSV is
// numeric when each cell that is not empty is a plain number; its empty cells
// are null then, and the cells of other columns are strings.
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
		return nil, errors.New("it is empty, so there is no JSON in it")
	case err != nil:
		return nil, fmt.Errorf("it is no JSON: %w%s", err, place(data, err))
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

// place says in which line a syntax error lies.
func place(data []byte, err error) string {
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
			return nil, fmt.Errorf("line %d is no JSON value: %w", n, err)
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
		return nil, fmt.Errorf("it is no table: %w", err)
	}
	if len(cells) == 0 {
		return nil, errors.New("it is empty: a table starts with a row of column names")
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
