package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/pexctl/pex/internal/app/runpage"
	"github.com/pexctl/pex/server/problem"
)

//go:embed page
var pages embed.FS

// frame is what every page shows around its content.
type frame struct {
	Server, Version string
	User            string // "" = anonymous
	SignIn          bool   // clients need a token
	Open            int    // questions
}

// page is a page to write.
type page struct {
	frame
	Name     string // of its template
	Title    string
	Status   int    // 0 = 200
	Alert    string // what went wrong with the last form
	Data     any
	Charts   bool   // the page has charts
	Chat     bool   // the page is a chat
	redirect string // instead of the page
}

func redirect(to string) *page { return &page{redirect: to} }

// Asset returns the path of a static file, which changes with its content.
func (*page) Asset(name string) string { return assetPath(name) }

var templates = sync.OnceValue(func() map[string]*template.Template {
	names, err := pages.ReadDir("page")
	if err != nil {
		panic("web: " + err.Error())
	}
	base := template.Must(template.New("layout.html").Funcs(funcs).ParseFS(pages, "page/layout.html", "page/part.html"))
	all := map[string]*template.Template{}
	for _, f := range names {
		if name, ok := strings.CutSuffix(f.Name(), ".html"); ok && name != "layout" && name != "part" {
			all[name] = template.Must(template.Must(base.Clone()).ParseFS(pages, "page/"+f.Name()))
		}
	}
	return all
})

func render(p *page) ([]byte, error) {
	var b bytes.Buffer
	if err := templates()[p.Name].Execute(&b, p); err != nil {
		return nil, fmt.Errorf("page %s: %w", p.Name, err)
	}
	return b.Bytes(), nil
}

// policy allows only our own files. The hash is that of the style sheet in pictures of graphs.
var policy = sync.OnceValue(func() string {
	return "default-src 'none'; style-src 'self' " + runpage.GraphPolicy() + "; script-src 'self'; connect-src 'self'; img-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types pex"
})

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy())
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func (u *UI) write(w http.ResponseWriter, r *http.Request, p *page) {
	b, err := render(p)
	if err != nil {
		u.o.Access.Fail(w, r, err)
		return
	}
	setHeaders(w.Header())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	_, _ = w.Write(b) // the client may be gone
}

// problemPage is the page of a problem: to sign in, if the client has no valid token.
func (u *UI) problemPage(r *http.Request, p *problem.Problem) (contentType string, body []byte) {
	pg := &page{frame: frame{Server: u.o.Name, Version: u.o.Version}, Name: "problem", Title: p.Detail, Data: p}
	if p.Code == problem.Unauthorized {
		pg.Name, pg.Title, pg.Data = "signin", "Sign in", signInOf(r)
	}
	b, err := render(pg)
	if err != nil {
		u.o.Access.Log.ErrorContext(r.Context(), "page of a problem", slog.Any("error", err))
		return "text/plain; charset=utf-8", []byte(p.Detail + "\n")
	}
	return "text/html; charset=utf-8", b
}
