package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/internal/app/trust"
)

func TestToolsDescribeTheirAccess(t *testing.T) {
	cases := []struct {
		name, tool string
		want       []string
	}{
		{"files", `{type: builtin, use: write_file, root: .}`, nil},
		{
			"command", `{type: command, argv: [sh, -c, "a  b<&>", "${args.x}"], cwd: sub, env: {PATH: /evil, A: "${env.B}"}}`,
			[]string{`runs ["sh","-c","a  b<&>","${args.x}"] in "../out/sub" with A="${env.B}" with PATH="/evil"`, "uses the environment's B"},
		},
		{"python", `{type: builtin, use: python, allow: true, interpreter: ./python}`, []string{`runs ["./python"], for programs that a model writes`}},
		{"code", `{type: builtin, use: code}`, nil},
		{
			"http", `{type: http, url: "https://${env.HOST}/x", headers: {A: "${env.TOKEN}"}, allow_hosts: ["*.example.org"]}`,
			[]string{"connects to https://${env.HOST}/x", "may be redirected to *.example.org", "uses the environment's HOST, TOKEN"},
		},
		{"http_get to all", `{type: builtin, use: http_get}`, []string{"connects to any public address that a model names"}},
		{"http_get", `{type: builtin, use: http_get, allow_hosts: [a.example, b.example]}`, []string{"connects to a.example, b.example"}},
		{"http_request", `{type: builtin, use: http_request, allow_hosts: [a.example]}`, []string{"connects to a.example"}},
		{
			"web_search, a service", `{type: builtin, use: web_search, engine: brave, api_key_env: KEY}`,
			[]string{"connects to https://api.search.brave.com/res/v1/web/search", "uses the environment's KEY"},
		},
		{"web_search, a server", `{type: builtin, use: web_search, url: "http://localhost:8080/search"}`, []string{"connects to http://localhost:8080/search"}},
		{
			"opensearch_search", `{type: builtin, use: opensearch_search, url: "https://s.example:9200", auth: {type: basic, username: u, password_env: PASS}}`,
			[]string{"connects to https://s.example:9200", "uses the environment's PASS"},
		},
		{
			"opensearch_list_index", `{type: builtin, use: opensearch_list_index, url: "https://s.example:9200", auth: {type: sigv4, region: x}}`,
			[]string{"connects to https://s.example:9200", "uses this machine's AWS credentials"},
		},
		{"mcp, a program alone", `{type: mcp, command: npx, args: [-y, "x y"], cwd: sub}`, []string{`runs ["npx","-y","x y"] in "../out/sub"`}},
		{"mcp, a list", `{type: mcp, command: [npx, -y, x], env: {A: b}}`, []string{`runs ["npx","-y","x"] with A="b"`}},
		{
			"mcp, an address", `{type: mcp, url: "https://m.example/mcp", allow_hosts: [n.example], auth: {type: oauth, client_id: x, client_secret_env: SECRET, issuer: "https://login.example"}}`,
			[]string{"connects to https://m.example/mcp", "may be redirected to n.example", "connects to https://login.example", "uses the environment's SECRET"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"in/sub/x": "",
				"in/spec.yaml": "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: in}\ninclude: [../out/lib.yaml]\n" +
					"llms: {main: {provider: scripted, options: {replies: []}}}\n",
				"out/lib.yaml": "apiVersion: pex/v1\nkind: Library\ntools:\n  x: " + c.tool + "\n",
			} {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, spec, found := dsl.Compile(filepath.Join(dir, "in/spec.yaml"), dsl.Options{Catalog: components().Catalog, Root: filepath.Join(dir, "in"), AllowPaths: []string{filepath.Join(dir, "out")}})
			if found.Failed() {
				t.Fatal(found)
			}
			var want []string
			for _, line := range c.want {
				want = append(want, "tools.x ("+spec.Foreign.Files[0].Name+"): "+line)
			}
			if diff := cmp.Diff(want, trust.Access(spec.Foreign)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
