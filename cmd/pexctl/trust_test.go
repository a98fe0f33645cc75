package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/trust"
	"github.com/pexctl/pex/providers/genai"
	"github.com/pexctl/pex/providers/http"
	"github.com/pexctl/pex/providers/langchain"
	"github.com/pexctl/pex/providers/scripted"
)

func TestEveryToolDeclaresItsAccess(t *testing.T) {
	for _, f := range components().Tools {
		if _, ok := f.Config().(tool.AccessDescriber); !ok {
			t.Errorf("the Config of %s does not say what calls start and connect to: it needs Reaches", f.Type)
		}
	}
}

func TestForeignPartsAreListedCompletely(t *testing.T) {
	tool := func(path, typ string, config any, source string) specfs.ForeignPart {
		return specfs.ForeignPart{File: "lib.yaml", Path: path, Tool: &tool.Spec{Type: typ, Config: config}, Source: json.RawMessage(source)}
	}
	llm := func(m engine.ModelSpec, source string) specfs.ForeignPart {
		return specfs.ForeignPart{File: "lib.yaml", Path: "llms.x", Model: &m, Source: json.RawMessage(source)}
	}
	cases := []struct {
		name  string
		parts []specfs.ForeignPart
		want  []string
	}{
		{"nothing", nil, nil},
		{"what says that it reaches nothing", []specfs.ForeignPart{tool("tools.x", "still", still{}, `{"a": "${env.TOKEN}"}`)}, nil},
		{"what does not say it", []specfs.ForeignPart{tool("tools.x", "odd", &struct{}{}, `{}`)}, []string{"tools.x (lib.yaml): starts or connects to what the type odd needs"}},
		{
			"variables, in either spelling and by their names",
			[]specfs.ForeignPart{tool("tools.x", "odd", nil, `{"b": "$<env.B>", "a": ["${env.A:-x}"], "token_env": "C"}`)},
			[]string{"tools.x (lib.yaml): starts or connects to what the type odd needs", "tools.x (lib.yaml): uses the environment's A, B, C"},
		},
		{
			"the same twice",
			[]specfs.ForeignPart{tool("tools.x", "odd", nil, `{}`), tool("tools.x", "odd", nil, `{}`)},
			[]string{"tools.x (lib.yaml): starts or connects to what the type odd needs"},
		},
		{"a script", []specfs.ForeignPart{llm(engine.ModelSpec{Provider: "scripted", Config: &scripted.Config{}}, `{}`)}, nil},
		{
			"a model whose key nobody names",
			[]specfs.ForeignPart{llm(engine.ModelSpec{Provider: "googleai", Params: model.Params{Model: "g"}, Config: &genai.Config{}}, `{}`)},
			[]string{"llms.x (lib.yaml): sends prompts to g of googleai", "llms.x (lib.yaml): uses the environment's GEMINI_API_KEY, GOOGLE_API_KEY"},
		},
		{
			"a model at an address of its options",
			[]specfs.ForeignPart{llm(engine.ModelSpec{Provider: "http", APIKeyEnv: "K", Config: &http.Config{URL: component.Template{Text: "https://elsewhere.example.com/${args.model}"}}}, `{"options": {"url": "https://elsewhere.example.com/${args.model}"}}`)},
			[]string{"llms.x (lib.yaml): sends prompts to http", "llms.x (lib.yaml): connects to https://elsewhere.example.com/${args.model}"},
		},
		{
			"a model of a backend",
			[]specfs.ForeignPart{llm(engine.ModelSpec{Provider: "langchain", Params: model.Params{Model: "h"}, Config: &langchain.Config{Backend: "ernie"}}, `{}`)},
			[]string{"llms.x (lib.yaml): sends prompts to h of langchain", "llms.x (lib.yaml): uses the environment's ERNIE_ACCESS_TOKEN"},
		},
		{
			"a model with a key, somewhere else",
			[]specfs.ForeignPart{llm(engine.ModelSpec{
				Provider: "openai", APIKeyEnv: "KEY", Params: model.Params{Model: "g"}, BaseURL: component.Template{Text: "https://${env.HOST}/v1"},
			}, `{"api_key_env": "KEY", "base_url": "https://${env.HOST}/v1"}`)},
			[]string{"llms.x (lib.yaml): sends prompts to g of openai at https://${env.HOST}/v1", "llms.x (lib.yaml): uses the environment's HOST, KEY"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, trust.Access(&specfs.Foreign{Parts: c.parts})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// still is a Config that accesses nothing.
type still struct{}

func (still) Access() []string { return nil }

func TestTrustIsStoredByDigestAndReadStrictly(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	files := &specfs.Foreign{Files: []specfs.ForeignFile{{Path: "../lib.yaml", Digest: "sha256:1"}}}
	for range 2 { // the second is added to the first
		if err := trust.Add(home, files); err != nil {
			t.Fatal(err)
		}
		files = &specfs.Foreign{Files: append(files.Files, specfs.ForeignFile{Path: "../more.yaml", Digest: "sha256:2"})}
	}
	k, err := trust.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	one, both := &specfs.Foreign{Files: files.Files[:1]}, &specfs.Foreign{Files: files.Files[:2]}
	if !k.Has(one.Digest()) || !k.Has(both.Digest()) || k.Has(files.Digest()) {
		t.Errorf("%+v is not what was trusted", k)
	}
	path := filepath.Join(home, homedir.TrustFile)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: want a file of its user alone", info, err)
	}
	good := `{"version": 1, "trusted": [{"digest": "` + one.Digest() + `", "files": []}]}`
	cases := []struct{ name, text, want string }{
		{"as it was written", good, ""},
		{"empty", "", "EOF"},
		{"an unknown key", `{"version": 1, "all": true}`, `unknown field "all"`},
		{"another version", strings.Replace(good, "1", "2", 1), "version 2"},
		{"no version", `{"version": 0, "trusted": []}`, "version 0"},
		{"two values", good + good, "more than one JSON value"},
		{"a prefix of a digest", `{"version": 1, "trusted": [{"digest": "` + one.Digest()[:30] + `"}]}`, "invalid digest"},
		{"all", `{"version": 1, "trusted": [{"digest": "all"}]}`, `invalid digest "all"`},
		{"too large", good + strings.Repeat(" ", trust.MostTrust), "larger than"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := trust.Open(home)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
