package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/invisible"
	"github.com/pexctl/pex/engine/text"
)

var funcs = template.FuncMap{
	"text": visible, "line": line, "json": indented, "count": text.Count, "amount": text.Amount, "money": money, "tone": tone,
	"percent": func(f float64) string { return fmt.Sprintf("%.1f%%", 100*f) },
	"ago":     func(t time.Time) string { return text.Ago(time.Since(t)) }, "when": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"dur": func(ms int64) string { return text.Duration(time.Duration(ms) * time.Millisecond) }, "digest": shortDigest, "path": url.PathEscape, "paths": escaped,
}

// shortDigest returns the start of a digest.
func shortDigest(s string) string {
	s = strings.TrimPrefix(s, "sha256:")
	return s[:min(len(s), 12)]
}

// visible makes invisible characters of a text visible.
func visible(s string) string {
	s, _ = invisible.Show(s)
	return s
}

func line(s string) string { return text.ClipRunes(text.OneLine(visible(s)), 140) }

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(raw), "", "  ") != nil {
		return visible(string(raw))
	}
	return visible(b.String())
}

func money(usd float64) string {
	if usd == 0 {
		return ""
	}
	return fmt.Sprintf("$%.4f", usd)
}

// tone returns the class of a status.
func tone(status string) string {
	switch status {
	case "completed":
		return "good"
	case "failed", "cancelled", "corrupt", "unreadable":
		return "bad"
	case "running", "queued":
		return "info"
	}
	return "warn"
}
