package bleve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// Retrieve is the factory of the retrieve tool.
var Retrieve = component.New("retrieve", "Finds the passages in files that match a question best, with file and lines to cite.", defaults, newRetrieve)

const input = `{"type":"object","properties":{` +
	`"query":{"type":"string","description":"The search query: preferably the words and names that the files may contain."},` +
	`"top_k":{"type":"integer","minimum":1,"maximum":50,"description":"Maximum number of passages (optional)."}` +
	`},"required":["query"],"additionalProperties":false}`

const (
	maxQuery = 4000 // bytes
	maxTopK  = 50
	maxTries = 3 // searches while files change
)

type retrieve struct {
	info       tool.Info
	config     Config
	folder     *sandboxfs.Folder
	corpus     *corpus
	embeddings *embeddings // nil = full-text search only
}

var _ tool.Tool = (*retrieve)(nil)

func newRetrieve(c *Config, s tool.Settings) (tool.Tool, error) {
	if err := c.check().Err(); err != nil {
		return nil, err
	}
	f, err := sandboxfs.New(s, c.Root, c.Exclude)
	if err != nil {
		return nil, err
	}
	t := &retrieve{config: *c, folder: f, embeddings: newEmbeddings(c, s)}
	if t.corpus, err = newCorpus(c, f.Dir(), s.Cache, t.embeddings.identity()); err != nil {
		return nil, err
	}
	t.info = tool.Info{
		Name: cmp.Or(s.Name, "retrieve"), Input: json.RawMessage(input), Effect: tool.ReadEffect,
		Description: cmp.Or(s.Description, "Searches documents and returns the best matching passages, each with path:lines to cite. "+
			"Matches words in any form, not exact text. If nothing matches, try other words."),
	}
	return t, nil
}

// Info implements tool.Tool.
func (t *retrieve) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *retrieve) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	query, limit, err := t.arguments(call.Args)
	if err != nil {
		return nil, err
	}
	progress := call.Progress
	if progress == nil {
		progress = func(string) {}
	}
	tree, err := t.folder.Open()
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	for range maxTries {
		a, err := t.search(ctx, request{tree, query, limit, call.Embed, progress})
		if err != nil {
			return nil, err
		}
		if a.read(tree) {
			return a.output(query)
		}
	}
	return nil, errors.New("the files changed during the search; call again")
}

// arguments parses a call's arguments.
func (t *retrieve) arguments(raw json.RawMessage) (query string, limit int, err error) {
	args, err := tool.Arguments(raw, "query", "top_k")
	if err != nil {
		return "", 0, err
	}
	if text := args["query"]; len(text) > 0 && json.Unmarshal(text, &query) != nil {
		return "", 0, errors.New(`argument "query" must be a string`)
	}
	limit = t.config.TopK
	if number := args["top_k"]; len(number) > 0 && json.Unmarshal(number, &limit) != nil || limit < 1 {
		return "", 0, errors.New(`argument "top_k" must be a whole number, 1 or more`)
	}
	if strings.TrimSpace(query) == "" {
		return "", 0, errors.New(`argument "query" is empty; pass what the passages should be about`)
	}
	if len(query) > maxQuery {
		return "", 0, fmt.Errorf("the query is %d bytes long, the maximum is %d; pass only the important words", len(query), maxQuery)
	}
	return query, min(limit, maxTopK), nil
}
