package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// textDiff is a unified diff of two texts; "" = they are the same.
func textDiff(nameA, a, nameB, b string) string {
	text := string(diff.Diff(nameA, []byte(a), nameB, []byte(b)))
	_, text, _ = strings.Cut(text, "\n") // the names stand in the next two lines
	return text
}

// sourceDiff is the diff of two resolved specs.
func sourceDiff(nameA string, a json.RawMessage, nameB string, b json.RawMessage) string {
	return textDiff(nameA, indented(a), nameB, indented(b))
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw) + "\n"
	}
	return b.String() + "\n"
}
