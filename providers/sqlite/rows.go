package sqlite

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

const (
	maxCell = 4 << 10 // bytes shown of a text
	maxBlob = 1 << 10 // bytes of a blob, above which only its size is shown
	maxName = 128     // bytes shown of a column name; the name of an expression is its text
)

// rows is the limited result of a statement.
type rows struct {
	Columns   []string            `json:"columns"`
	Rows      [][]json.RawMessage `json:"rows"`
	Truncated bool                `json:"truncated"` // there are more rows
	Changes   int                 `json:"changes,omitempty"`

	mayWrite  bool // the statement may have changed something
	clipped   bool // a text or blob was shortened
	maxRows   int  // maximum rows
	remaining int  // bytes left for rows
	readable  [][]string
}

func newRows(columns []string, maxRows, remaining int) *rows {
	return &rows{Columns: columns, Rows: [][]json.RawMessage{}, maxRows: maxRows, remaining: remaining}
}

// add adds the current row of a statement. It returns false if there is no space left.
func (r *rows) add(s *statement) bool {
	if r.Truncated {
		return false
	}
	if len(r.Rows) == r.maxRows {
		r.Truncated = true
		return false
	}
	row, words, size := make([]json.RawMessage, len(r.Columns)), make([]string, len(r.Columns)), 0
	for i := range row {
		v := r.cellValue(s.value(i))
		row[i], _ = json.Marshal(v) // strings, numbers and maps of them always encode
		if words[i] = string(row[i]); v == nil {
			words[i] = ""
		} else if text, ok := v.(string); ok {
			words[i] = text
		}
		if size += len(row[i]) + 1; size > r.remaining {
			r.Truncated = true
			return false
		}
	}
	r.remaining -= size
	r.Rows, r.readable = append(r.Rows, row), append(r.readable, words)
	return true
}

// cellValue converts a value to JSON. Long text is shortened, a blob becomes base64 with its size, and an infinite
// number becomes a string.
func (r *rows) cellValue(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > maxCell {
			r.clipped = true
			return strings.ToValidUTF8(v[:maxCell], "") + fmt.Sprintf(" [cut; %d bytes in all, substr() gives the rest]", len(v))
		}
		return strings.ToValidUTF8(v, "\uFFFD")
	case []byte:
		if len(v) > maxBlob {
			r.clipped = true
			return map[string]any{"bytes": len(v)}
		}
		return map[string]any{"bytes": len(v), "base64": v}
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Sprint(v)
		}
	}
	return v
}

// output returns the rows as JSON and as a table.
func (r *rows) output() (*tool.Output, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return &tool.Output{Text: r.text(), Data: data}, nil
}

func (r *rows) text() string {
	var b strings.Builder
	if len(r.Columns) > 0 {
		line(&b, r.Columns)
		b.WriteString(strings.Repeat("| --- ", len(r.Columns)) + "|\n")
		for _, row := range r.readable {
			line(&b, row)
		}
	}
	var notes []string
	switch {
	case r.Truncated && len(r.Rows) == 0:
		notes = append(notes, "the first row is too long to be shown; ask for fewer columns")
	case r.Truncated:
		notes = append(notes, text.Count(len(r.Rows), "row")+" shown and there are more; filter, aggregate, or use LIMIT and OFFSET")
	case len(r.Columns) > 0:
		notes = append(notes, text.Count(len(r.Rows), "row"))
	}
	if r.mayWrite {
		notes = append(notes, text.Count(r.Changes, "row")+" changed")
	}
	if r.clipped {
		notes = append(notes, "long values are cut")
	}
	return b.String() + "[" + strings.Join(notes, "; ") + "]"
}

// escapes replaces characters that would break a table cell.
var escapes = strings.NewReplacer("|", `\|`, "\r\n", " ", "\n", " ", "\r", " ")

func line(b *strings.Builder, cells []string) {
	for _, c := range cells {
		b.WriteString("| " + escapes.Replace(c) + " ")
	}
	b.WriteString("|\n")
}
