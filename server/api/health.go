package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// addServer documents the operations of the listener, and that of the document itself.
func (a *operations) addServer() {
	text := func(name string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{name: {Type: huma.TypeString}}, Required: []string{name}}
	}
	get := func(id, path, summary string, schema *huma.Schema, security []map[string][]string, problems ...string) {
		op := &huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{"server"}, Summary: summary, Security: security,
			Responses: map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}},
		}
		for _, status := range problems {
			op.Responses[status] = problemResponse("Any problem")
		}
		a.OpenAPI().Paths[path] = &huma.PathItem{Get: op}
	}
	open := []map[string][]string{{}} // no token
	get("getHealth", "/healthz", "Report whether the process is alive", text("status"), open)
	get("getReadiness", "/readyz", "Report whether the server accepts runs", text("status"), open, "503")
	get("getVersion", "/version", "Get the version of the server", text("version"), open)
	get("getOpenAPI", "/openapi.json", "Get this document", &huma.Schema{Type: huma.TypeObject}, nil, "default")
}
