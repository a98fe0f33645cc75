package main

import (
	"slices"

	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/builtins/node"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/builtins/tool/opensearch"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/providers/anthropic"
	"github.com/pexctl/pex/providers/badger"
	"github.com/pexctl/pex/providers/bedrock"
	"github.com/pexctl/pex/providers/bleve"
	"github.com/pexctl/pex/providers/cassette"
	"github.com/pexctl/pex/providers/genai"
	"github.com/pexctl/pex/providers/http"
	"github.com/pexctl/pex/providers/langchain"
	"github.com/pexctl/pex/providers/mcp"
	"github.com/pexctl/pex/providers/openai"
	"github.com/pexctl/pex/providers/postgres"
	"github.com/pexctl/pex/providers/scripted"
	"github.com/pexctl/pex/providers/sqlite"
	"github.com/pexctl/pex/providers/starlark"
)

// components returns the catalog of all components. A provider is one line here.
func components() *catalog.Catalog {
	return &catalog.Catalog{
		Catalog: engine.Catalog{
			Models: component.Set[model.Settings, model.Model]{
				openai.OpenAI,
				openai.AzureOpenAI,
				anthropic.Anthropic,
				bedrock.Bedrock,
				genai.GoogleAI,
				openai.Mistral,
				openai.Ollama,
				http.HTTP,
				langchain.LangChain,
				scripted.Scripted,
				cassette.Cassette,
			},
			Tools: slices.Concat(builtintool.All(), opensearch.All(new(bedrock.Signer).Sign), component.Set[tool.Settings, tool.Tool]{
				bleve.Retrieve, sqlite.SQL, starlark.Code, mcp.MCP,
			}),
			Nodes: node.All(),
		},
		Checks: assertion.All(),
		Repair: node.RepairArguments,
		Memory: func(at catalog.MemoryPlace) memory.Store {
			if at.Variable != "" {
				return postgres.Open(postgres.Options{Address: at.Address, Variable: at.Variable, Tenant: at.Tenant})
			}
			return badger.Open(at.Dir, badger.Options{Tenant: at.Tenant, Idle: project.MemoryIdle, Inbox: project.MemoryInbox})
		},
	}
}
