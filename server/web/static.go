package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"

	"github.com/pexctl/pex/internal/app/runpage"
	"github.com/pexctl/pex/server/problem"
)

//go:embed static
var static embed.FS

// staticPath is the path of the static files, as NAME-HASH.EXT.
const staticPath = "/static/"

// asset is a static file.
type asset struct {
	contentType string
	content     []byte
}

// assets are the static files by path, and paths their paths by name.
var assets, paths = func() (func() map[string]asset, func() map[string]string) {
	load := sync.OnceValues(func() (map[string]asset, map[string]string) {
		files, names := map[string]asset{}, map[string]string{}
		add := func(name, contentType, content string) {
			sum := sha256.Sum256([]byte(content))
			base, ext, _ := strings.Cut(name, ".")
			path := staticPath + base + "-" + hex.EncodeToString(sum[:6]) + "." + ext
			files[path], names[name] = asset{contentType, []byte(content)}, path
		}
		add("app.css", "text/css; charset=utf-8", runpage.Style()+read("app.css"))
		add("app.js", "text/javascript; charset=utf-8", read("app.js"))
		add("chat.js", "text/javascript; charset=utf-8", read("chat.js"))
		add("chart.js", "text/javascript; charset=utf-8", read("chart.js"))
		add("uplot.js", "text/javascript; charset=utf-8", read("uplot.js"))
		add("uplot.css", "text/css; charset=utf-8", read("uplot.css"))
		add("icon.svg", "image/svg+xml", read("icon.svg"))
		return files, names
	})
	return func() map[string]asset { files, _ := load(); return files }, func() map[string]string { _, names := load(); return names }
}()

func read(name string) string {
	b, err := static.ReadFile("static/" + name)
	if err != nil {
		panic("web: " + err.Error())
	}
	return string(b)
}

func assetPath(name string) string { return paths()[name] }

func isStatic(path string) bool { return strings.HasPrefix(path, staticPath) }

func serveStatic(w http.ResponseWriter, r *http.Request) {
	a, ok := assets()[r.URL.Path]
	if !ok {
		problem.Write(w, r, problem.New(problem.NotFound, "there is no such file"))
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.content) // the client may be gone
}
