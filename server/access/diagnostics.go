package access

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/edit"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/problem"
)

// absolutePath matches what may be a path of the server.
var absolutePath = text.Regexp(`(^|[^\w./:-])(/\w|[A-Za-z]:\\|\\\\\w)`)

// forClient splits the errors of a spec into those about overrides, for the client, and the
// others, which show parts and paths of the spec.
func forClient(found diag.List) (shown, hidden diag.List) {
	for _, d := range found {
		switch {
		case d.Severity != diag.Error:
		case isEdit(d):
			shown = append(shown, d)
		case !strings.HasPrefix(d.File, "--set ") || absolutePath().MatchString(d.Message):
			hidden = append(hidden, d)
		default:
			if absolutePath().MatchString(d.Hint) {
				d.Hint = ""
			}
			shown = append(shown, d)
		}
	}
	return shown, hidden
}

// isEdit reports whether a diagnostic is about the text of a prompt that the client edited.
func isEdit(d diag.Diagnostic) bool {
	_, ok := edit.PromptOf(d)
	return ok
}

// invalidPrompt returns the problem of an edited prompt.
func invalidPrompt(d diag.Diagnostic) *problem.Problem {
	name, _ := edit.PromptOf(d)
	where := "the prompt " + name
	if d.Line > 0 {
		where = fmt.Sprintf("line %d of %s", d.Line, where)
	}
	detail := where + ": " + d.Message
	if d.Hint != "" {
		detail += "; " + d.Hint
	}
	return problem.New(problem.InvalidPrompt, "%s", detail).At(problem.Pointer("prompts", name))
}

// diagnosticsOf returns the diagnostics of a spec that does not compile.
func diagnosticsOf(err error) diag.List {
	if e, ok := errors.AsType[*agents.InvalidError](err); ok {
		return e.Found
	}
	if e, ok := errors.AsType[*host.InvalidError](err); ok {
		return e.Found
	}
	return nil
}

// ofOverrides returns the problem of overrides with which a program does not compile.
func ofOverrides(err error) *problem.Problem {
	shown, _ := forClient(diagnosticsOf(err))
	if _, ok := errors.AsType[*agents.InvalidError](err); !ok && len(shown) == 0 {
		return nil
	}
	p := problem.New(problem.InvalidSet, "the spec has errors with these overrides").At("/set")
	if i := slices.IndexFunc(shown, isEdit); i >= 0 {
		p = invalidPrompt(shown[i])
	}
	if len(shown) > 0 {
		p = p.With("diagnostics", []diag.Diagnostic(shown))
	}
	return p
}

// logDiagnostics logs the errors of a spec that the client does not see.
func (s *Server) logDiagnostics(r *http.Request, err error) {
	_, hidden := forClient(diagnosticsOf(err))
	for _, d := range hidden {
		file := d.File
		if override, _, ok := strings.Cut(file, "="); ok && strings.HasPrefix(file, "--set ") {
			file = override // its value is the client's
		}
		s.Log.WarnContext(r.Context(), "the spec has an error", slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.String("file", file),
			slog.Int("line", d.Line), slog.String("code", string(d.Code)), slog.String("error", d.Message))
	}
}

// DiagnosticsOf returns what pexctl vet reports about the spec of an agent, without paths of the server.
func DiagnosticsOf(a *agents.Agent) []diag.Diagnostic {
	out := []diag.Diagnostic{}
	for _, d := range a.Diagnostics() {
		if absolutePath().MatchString(d.Message) {
			d.Message = "pexctl vet shows this warning, which contains a path of the server"
		}
		if absolutePath().MatchString(d.Hint) {
			d.Hint = ""
		}
		if !strings.HasPrefix(d.File, "--set ") {
			d.File = filepath.Base(d.File)
		}
		out = append(out, d)
	}
	return out
}
