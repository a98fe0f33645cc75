package lsp

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

var drive = text.Regexp(`^/[A-Za-z]:`)

// pathOf is the absolute path of a file's URI; "" = it names no file.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	path := u.Path
	if u.Host != "" && u.Host != "localhost" {
		path = "//" + u.Host + path
	}
	if drive().MatchString(path) && filepath.Separator == '\\' {
		path = path[1:]
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// uriOf is the URI of an absolute path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// real is a path as the compiler asks for it: links in its folder are followed.
func real(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}
