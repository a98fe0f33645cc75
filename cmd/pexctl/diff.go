package main

import (
	"bytes"
	"encoding/json"

	"github.com/pexctl/pex/eval/textdiff"
)

// textDiff is a unified diff of two texts; "" = they are the same.
func textDiff(nameA, a, nameB, b string) string {
	text := textdiff.Compare(a, b).Unified(0)
	if text == "" {
		return ""
	}
	return "--- " + nameA + "\n+++ " + nameB + "\n" + text
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
