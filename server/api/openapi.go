package api

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/problem"
)

const apiDescription = `Start, watch and control runs of agents.

Errors are problem details (RFC 9457) with a stable code. Times are RFC 3339. A run has the same id, result and events
for the API and for the command line.`

// newConfig returns the configuration of the API without the routes that huma would add.
func newConfig(version string) huma.Config {
	c := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: "pexctl serve", Version: version, Description: apiDescription},
			Components: &huma.Components{
				Schemas:         huma.NewMapRegistry("#/components/schemas/", schemaName),
				SecuritySchemes: map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}},
			},
			Security: []map[string][]string{{"token": {}}, {}},
			Tags: []*huma.Tag{
				{Name: "agents", Description: "The agents of the server."},
				{Name: "runs", Description: "Runs, their results and events."},
				{Name: "sessions", Description: "Conversations as one stream of events and messages."},
				{Name: "decisions", Description: "Questions to humans, and changes to runs."},
				{Name: "artifacts", Description: "Files that clients upload for runs."},
				{Name: "evals", Description: "Stored evaluations (pexctl eval)."},
				{Name: "memories", Description: "Conversations that runs continue."},
				{Name: "server", Description: "The server itself."},
			},
		},
		Formats:       map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{asProblem},
	}
	c.Components.Schemas.Map()["Problem"] = problemSchema()
	return c
}

// schemaName returns the name of a type's schema: that of the type in this package,
// otherwise with its package, since names like Summary occur in several.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	pkg := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
	switch {
	case name == "": // a list
		return ""
	case pkg == "" || pkg == "api":
		return strings.ToUpper(name[:1]) + name[1:]
	}
	return strings.ToUpper(pkg[:1]) + pkg[1:] + name
}

func problemSchema() *huma.Schema {
	text := func(description string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Description: description}
	}
	return &huma.Schema{
		Type: huma.TypeObject, Description: "Problem details (RFC 9457). Some codes have further members.",
		Properties: map[string]*huma.Schema{
			"type": text("URI that identifies the code."), "title": text("Short text for the code."),
			"status": {Type: huma.TypeInteger, Description: "HTTP status."},
			"detail": text("What is wrong, and how to fix it."), "code": text("Stable code for programs."),
			"pointer":     text("JSON Pointer to the invalid part of the request body."),
			"diagnostics": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject}, Description: "Errors in overrides, as pexctl vet -o json."},
		},
		Required: []string{"type", "title", "status", "detail", "code"},
	}
}

// asProblem converts the errors of huma, which are about requests that do not match the
// OpenAPI document.
func asProblem(_ huma.Context, _ string, v any) (any, error) {
	bad, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := problem.New(codeOf(bad.Status), "%s", bad.Detail)
	if len(bad.Errors) == 0 {
		return p, nil
	}
	if bad.Status == http.StatusUnsupportedMediaType {
		p.Detail = "the body must be JSON; send the header Content-Type: application/json"
		return p, nil
	}
	first := bad.Errors[0]
	place, pointer, inBody := strings.Cut(first.Location, "body")
	switch {
	case inBody && place == "":
		p.Pointer = pointerOf(pointer)
		p.Detail = strings.TrimPrefix(p.Pointer+": ", ": ") + first.Message
	case first.Location != "":
		p.Detail = strings.Replace(first.Location, ".", " parameter ", 1) + ": " + first.Message
	default:
		p.Detail = first.Message
	}
	return p, nil
}

func codeOf(status int) problem.Code {
	switch status {
	case http.StatusBadRequest:
		return problem.InvalidJSON
	case http.StatusUnsupportedMediaType:
		return problem.UnsupportedMedia
	case http.StatusUnprocessableEntity:
		return problem.InvalidRequest
	default:
		return problem.Internal
	}
}

// pointerOf returns the JSON Pointer of a path such as ".earlier[0].role".
func pointerOf(path string) string {
	return strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(path)
}

// document returns the OpenAPI document.
func document(d *huma.OpenAPI) []byte {
	for path, item := range d.Paths {
		if clean := strings.Replace(path, "...}", "}", 1); clean != path {
			delete(d.Paths, path)
			d.Paths[clean] = item
		}
	}
	all := d.Components.Schemas.Map()
	requests := map[*huma.Schema]bool{}
	for _, item := range d.Paths {
		if item.Post == nil || item.Post.RequestBody == nil {
			continue
		}
		if body := item.Post.RequestBody.Content["application/json"]; body != nil {
			requests[d.Components.Schemas.SchemaFromRef(body.Schema.Ref)] = true
		}
	}
	for name, schema := range all {
		if strings.HasPrefix(name, "V2Error") { // of huma
			delete(all, name)
		}
		if !requests[schema] { // later versions may add members
			schema.AdditionalProperties = nil
		}
		for _, p := range schema.Properties {
			p.Nullable = p.Nullable && p.Type != huma.TypeArray
		}
	}
	b, err := jsonvalue.MarshalIndent(d)
	if err != nil {
		panic(err) // the types are fixed
	}
	return append(b, '\n')
}
