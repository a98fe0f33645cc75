package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// maxYAML is the maximum size of a YAML file in bytes, since it is read as a whole.
const maxYAML = 32 << 20

// yamlRows reads a list of mappings.
func (s Source) yamlRows(r *bufio.Reader, yield func(row, error) bool) {
	text, err := io.ReadAll(io.LimitReader(r, maxYAML+1))
	if err == nil && len(text) > maxYAML {
		err = fmt.Errorf("a YAML dataset must not exceed %d MiB: use JSONL", maxYAML>>20)
	}
	if err != nil {
		yield(row{}, withoutPath(err))
		return
	}
	b, found := dsl.JSON(s.name(), text)
	if found.Failed() {
		yield(row{}, errors.New("invalid YAML:\n"+strings.TrimRight(found.String(), "\n")))
		return
	}
	items, ok := jsonvalue.Plain(b).([]any)
	if !ok {
		yield(row{}, errors.New("a dataset must be a list of rows: - {column: value, ...}"))
		return
	}
	var raw []json.RawMessage
	if jsonvalue.CheckPrecision(b) != nil {
		_ = json.Unmarshal(b, &raw) // it is a list
	}
	lines := itemLines(text, len(items))
	for i, item := range items {
		values, ok := item.(map[string]any)
		switch {
		case !ok:
			err = fmt.Errorf("row %d must be a mapping, {column: value, ...}", i+1)
		case raw != nil:
			err = withQuoteHint(jsonvalue.CheckPrecision(raw[i]))
		}
		if !yield(row{lines[i], values}, err) || err != nil {
			return
		}
	}
}

// itemLines returns the first line of each item of a block list, or zeros for other lists.
func itemLines(text []byte, n int) []int {
	lines := make([]int, 0, n)
	indent, at := -1, 0
	for line := range bytes.Lines(text) {
		at++
		rest := bytes.TrimLeft(line, " ")
		if len(rest) < 2 || rest[0] != '-' || rest[1] != ' ' && rest[1] != '\n' && rest[1] != '\r' {
			continue
		}
		if indent < 0 {
			indent = len(line) - len(rest)
		}
		if len(line)-len(rest) == indent {
			lines = append(lines, at)
		}
	}
	if len(lines) != n {
		return make([]int, n)
	}
	return lines
}
