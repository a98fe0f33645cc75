package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed page
var files embed.FS

// assets are the parts of the page that are the same in every report.
type assets struct {
	style, script, body string
	policy              string // Content-Security-Policy
}

// loadAssets concatenates the embedded files once.
var loadAssets = sync.OnceValue(func() assets {
	a := assets{
		style:  concat(".css"),
		script: "(() => {\n\"use strict\";\n" + concat(".js") + "})();\n",
		body:   concat(".html"),
	}
	a.policy = strings.Join([]string{
		"default-src 'none'",
		"style-src " + hash(a.style),
		"script-src " + hash(a.script),
		"base-uri 'none'",
		"form-action 'none'",
		"require-trusted-types-for 'script'", // innerHTML and similar sinks are blocked even for our own script
		"trusted-types 'none'",
	}, "; ")
	return a
})

// concat returns the contents of all embedded files with the extension, in name order.
func concat(ending string) string {
	names, err := fs.Glob(files, "page/*"+ending)
	if err != nil || len(names) == 0 {
		panic("html: no embedded file ends in " + ending)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) })
	var b strings.Builder
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic("html: " + err.Error())
		}
		writeLean(&b, string(text))
	}
	return b.String()
}

// writeLean writes a file without indentation and comment lines, because every report
// contains it.
func writeLean(b *strings.Builder, text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimLeft(line, " \t\r\n"); line != "" && !strings.HasPrefix(line, "//") {
			b.WriteString(line)
		}
	}
}

// hash returns the CSP hash of an inline style or script.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
