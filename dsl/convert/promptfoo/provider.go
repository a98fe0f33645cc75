package promptfoo

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// provider is one provider and the LLM that it became.
type provider struct{ label, llm string }

// kinds are words between a provider and its model; the value reports whether
// they have a counterpart.
var kinds = map[string]bool{
	"chat": true, "messages": true, "responses": true, "completion": true, "deployment": true, "converse": true,
	"assistant": false, "image": false, "video": false, "realtime": false, "embedding": false, "embeddings": false, "moderation": false, "live": false,
	"agents": false, "kb": false, "nova-sonic": false, "claude-agent-sdk": false, "codex-sdk": false, "tts": false, "transcription": false,
	"foundry-agent": false, "text-generation": false, "feature-extraction": false, "text-classification": false,
}

// settings maps the keys of a provider's config to keys of the spec.
var settings = map[string]string{
	"temperature": "temperature", "top_p": "top_p", "topP": "top_p", "seed": "seed",
	"max_tokens": "max_output_tokens", "maxTokens": "max_output_tokens", "max_output_tokens": "max_output_tokens", "maxOutputTokens": "max_output_tokens",
	"max_completion_tokens": "max_output_tokens", "max_new_tokens": "max_output_tokens",
}

// readProviders reads all providers; there is at least one.
func (c *config) readProviders() {
	at := tree.First(c.root.Get("providers"), c.root.Get("targets"))
	items := []*tree.Value{}
	if at != nil {
		items = at.Items
		if at.Kind == tree.Text {
			items = []*tree.Value{at}
		}
	}
	for _, it := range items {
		if llm, label := c.provider(it); llm != "" {
			c.providers = append(c.providers, provider{label, llm})
		}
	}
	if len(c.providers) == 0 {
		c.NoteAt(c.root.File, ".", convert.Todo, "no provider was converted: replace %s under llms", draft.Placeholder)
		c.providers = []provider{{"main", c.AddLLM("main", tree.Map{{Key: "provider", Value: "openai"}, {Key: "model", Value: draft.Placeholder}})}}
	}
}

// provider converts a provider to an LLM. It returns "" if there is no
// counterpart.
func (c *config) provider(it *tree.Value) (llm, label string) {
	at, more := it, it
	if it.Kind == tree.Object && it.Get("id") == nil && len(it.Items) == 1 { // openai:gpt-5: {config: ...}
		at = &tree.Value{File: it.File, Path: it.Path, Kind: tree.Text, Text: it.Keys[0]}
		more = it.Items[0]
	} else if it.Kind == tree.Object {
		at = it.Get("id")
	}
	id := at.Peek()
	name, model, ok := split(id)
	if !ok || at == nil {
		c.Note(it, convert.Todo, "%q has no counterpart: an llm is a model of a provider, or any HTTP endpoint by provider: http", tree.Clip(id))
		return "", ""
	}
	at.Use()
	label = more.Get("label").UseText()
	entry := c.Model(at, name, model)
	c.configure(&entry, more.Get("config"))
	if prompts := more.Get("prompts"); prompts != nil {
		c.Note(prompts, convert.Changed, "each provider is tried with each prompt: remove variants of the suites that are not wanted")
	}
	c.Note(more.Get("transform"), convert.Todo, "the transform is code: response_filter of a tool, output_filter or a check's path select parts of an answer")
	c.Note(more.Get("delay"), convert.Dropped, "set rate_limit under the llm")
	if more != at {
		c.NoteUnused(more, "an llm has nothing like it")
	}
	llm = c.AddLLM(draft.ShortName(tree.First(more.Get("label"), &tree.Value{Kind: tree.Text, Text: model}).Peek()), entry)
	if label == "" {
		label = llm
	}
	return llm, label
}

// split splits the id of a provider. ok is false if it is not a chat model.
func split(id string) (name, model string, ok bool) {
	name, model, ok = strings.Cut(id, ":")
	if !ok || !draft.IsKnownProvider(name) {
		return "", "", false
	}
	for {
		kind, rest, more := strings.Cut(model, ":")
		can, known := kinds[kind]
		switch {
		case known && !can:
			return "", "", false
		case !known || !more:
			return name, model, true
		}
		model = rest
	}
}

// configure writes the settings of a provider.
func (c *config) configure(entry *tree.Map, config *tree.Value) {
	if config == nil || config.Kind != tree.Object {
		return
	}
	c.Settings(entry, config, settings)
	for _, key := range []string{"generationConfig", "inferenceConfig"} {
		c.Settings(entry, config.Get(key), settings)
	}
	name := strings.ToUpper(entry.Get("provider").(string))
	for _, key := range []string{"apiBaseUrl", "apiHost", "baseUrl", "baseURL"} {
		if at := config.Get(key); at != nil {
			base := c.Setting(at, "", tree.Variable(name, "BASE_URL"), reference())
			if !strings.Contains(base, "://") && !strings.HasPrefix(base, "${") {
				base = "https://" + base
			}
			entry.Put("base_url", base)
		}
	}
	if at := config.Get("apiKeyEnvar"); at != nil {
		entry.Put("api_key_env", tree.Variable(at.UseText()))
	}
	c.Note(config.Get("apiKey"), convert.Todo, "keys are not copied: set the environment variable that api_key_env names")
	if at := config.Get("region"); at != nil && entry.Get("provider") == "bedrock" {
		c.Note(at, convert.Todo, "set AWS_REGION, or options.region of the llm")
	}
	for _, key := range []string{"tools", "functions", "toolConfig"} {
		c.Note(config.Get(key), convert.Todo, "tools are part of the spec: add them under tools, and an executor node that calls them")
	}
	for _, key := range []string{"response_format", "responseFormat", "responseSchema"} {
		c.Note(config.Get(key), convert.Todo, "write the schema of the answer as output.schema")
	}
	if at := tree.First(config.Get("reasoning_effort"), config.Get("reasoning", "effort")); at != nil && slices.Contains([]string{"openai", "azure_openai"}, entry.Get("provider").(string)) {
		entry.Put("options", tree.Map{{Key: "reasoning_effort", Value: at.UseText()}})
	}
	c.NoteUnused(config, "it has no counterpart: what one provider alone has goes under options of the llm")
}
