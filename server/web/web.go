package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// The paths of the forms that sign in and out.
const (
	loginPath  = "/login"
	logoutPath = "/logout"
)

// Options configure the pages.
type Options struct {
	Access *access.Server
	// Secrets returns the values that the page of a run must not show; nil = none.
	Secrets func(*runs.Run) *secret.Values
	Name    string // of the server, for titles; "" = pexctl
	Version string
	// SignIn reports whether clients need a token.
	SignIn func() bool
	Secure bool // the server is reached by https
}

// UI serves the pages.
type UI struct {
	o   Options
	mux *http.ServeMux
}

// New returns the pages of a server.
func New(o Options) *UI {
	if o.Name == "" {
		o.Name = "pexctl"
	}
	u := &UI{o: o, mux: http.NewServeMux()}
	u.get("/{$}", u.home)
	u.get("/runs", u.listRuns)
	u.get("/runs/{run}", u.showRun)
	u.get("/runs/{run}/calls/{call...}", u.showCall)
	u.get("/runs/{run}/diff/{other}", u.diffRuns)
	u.get("/runs/{run}/fork", u.showFork)
	u.post("/runs/{run}/fork", u.fork)
	u.get("/inbox", u.inbox)
	u.get("/conversations", u.listConversations)
	u.get("/conversations/{id}", u.showConversation)
	u.get("/conversations/{id}/delete", u.confirmDeletion)
	u.post("/conversations/{id}/delete", u.deleteConversation)
	u.get("/evals", u.listEvaluations)
	u.get("/evals/{eval}", u.showEvaluation)
	u.get("/usage", u.showUsage)
	u.get("/chat/{agent}", u.showChat)
	u.post("/chat/{agent}", u.sendChat)
	u.get("/agents", u.listAgents)
	u.get("/agents/{agent}", u.showAgent)
	u.post("/agents/{agent}", u.startRun)
	u.post("/runs/{run}/answer", u.answer)
	u.post("/runs/{run}/message", u.message)
	u.post("/runs/{run}/cancel", u.cancel)
	u.post("/runs/{run}/resume", u.resume)
	u.mux.HandleFunc("GET /diff", u.chooseDiff)
	u.mux.HandleFunc("POST "+loginPath, u.signIn)
	u.mux.HandleFunc("POST "+logoutPath, u.signOut)
	u.mux.HandleFunc("GET "+staticPath+"{file}", serveStatic)
	u.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, problem.New(problem.NotFound, "there is no such page"))
	})
	return u
}

// ServeHTTP implements http.Handler.
func (u *UI) ServeHTTP(w http.ResponseWriter, r *http.Request) { u.mux.ServeHTTP(w, r) }

// Paths are the paths of the pages, of which those that end with / include what is below.
func (*UI) Paths() []string {
	return []string{"/", "/runs", "/runs/", "/inbox", "/agents", "/agents/", "/conversations", "/conversations/", "/evals", "/evals/", "/usage", "/chat/", "/diff", loginPath, logoutPath, staticPath}
}

// IsPublic reports whether a request needs no identity.
func IsPublic(r *http.Request) bool {
	return r.URL.Path == loginPath || isStatic(r.URL.Path)
}

// IsPage reports whether a request is for a page, and not for its files.
func IsPage(r *http.Request) bool { return isPagePath(r.URL.Path) }

func isPagePath(path string) bool {
	return slices.ContainsFunc((*UI)(nil).Paths(), func(p string) bool {
		return path == p || len(p) > 1 && p != staticPath && strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
	})
}

// Form is how the pages show problems.
func (u *UI) Form() problem.Form { return problem.Form{Body: u.problemPage, Header: setHeaders} }

// action handles a request of a client. It returns a page, or a redirect.
type action func(ctx context.Context, c *access.Client, r *http.Request) (*page, error)

func (u *UI) get(path string, do action) { u.handle("GET "+path, do) }

func (u *UI) post(path string, do action) {
	u.handle("POST "+path, func(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
		if err := r.ParseForm(); err != nil {
			return nil, problem.New(problem.InvalidRequest, "the form cannot be read: %v", err)
		}
		return do(ctx, c, r)
	})
}

func (u *UI) handle(pattern string, do action) {
	u.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		c, err := u.o.Access.Client(r.Context())
		if err != nil {
			u.o.Access.Fail(w, r, err)
			return
		}
		p, err := do(r.Context(), c, r)
		if err != nil {
			u.o.Access.Fail(w, r, err)
			return
		}
		if p.redirect != "" {
			http.Redirect(w, r, p.redirect, http.StatusSeeOther)
			return
		}
		p.frame = u.frame(r.Context(), c)
		u.write(w, r, p)
	})
}

// frame returns what every page shows.
func (u *UI) frame(ctx context.Context, c *access.Client) frame {
	f := frame{Server: u.o.Name, Version: u.o.Version, SignIn: u.o.SignIn != nil && u.o.SignIn()}
	if by := c.Actor(); by.User != auth.Anonymous {
		f.User = by.User
	}
	if open, err := c.Questions(ctx); err == nil {
		f.Open = len(open)
	}
	return f
}
