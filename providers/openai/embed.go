package openai

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

var _ model.Embedder = (*chatModel)(nil)

// Limits of one request for vectors: servers reject larger ones, and the response must
// not exceed the transport's limit.
const (
	maxBatch       = 128     // texts
	maxBatchTokens = 150_000 // estimated
)

// Embed implements model.Embedder. It sends many texts in consecutive requests.
func (m *chatModel) Embed(ctx context.Context, texts []string) (vectors [][]float64, used model.Tokens, err error) {
	if m.keyless {
		return nil, used, m.noKey()
	}
	vectors = make([][]float64, 0, len(texts))
	for len(texts) > 0 {
		batch, size := texts[:batchOf(texts)], 0
		for _, t := range batch {
			size += utf8.RuneCountInString(t)
		}
		got, n, err := m.embedBatch(ctx, batch, model.EstimateTokens(size))
		if err != nil {
			return nil, used, err
		}
		if len(vectors) > 0 && len(got[0]) != len(vectors[0]) {
			return nil, used, modelhttp.Bad("the server's vectors have different lengths: %d and %d", len(vectors[0]), len(got[0]))
		}
		vectors, used.Input, texts = append(vectors, got...), used.Input+n, texts[len(batch):]
	}
	return vectors, used, nil
}

// batchOf returns how many of the texts fit into one request, at least one.
func batchOf(texts []string) int {
	size := 0
	for i, t := range texts {
		if size += len(t); i > 0 && (i == maxBatch || model.EstimateTokens(size) > maxBatchTokens) {
			return i
		}
	}
	return len(texts)
}

// embedBatch makes one request, with retries. estimate is the number of tokens to reserve,
// and the number used if the server does not report it.
func (m *chatModel) embedBatch(ctx context.Context, texts []string, estimate int) (vectors [][]float64, used int, err error) {
	body, err := modelhttp.EncodeBody(embeddingRequest{Input: texts, Model: m.name, EncodingFormat: "float"}, nil)
	if err != nil {
		return nil, 0, err
	}
	_, err = m.calls.Do(ctx, estimate, func(ctx context.Context) (int, error) {
		raw, err := m.read(ctx, "embeddings", "", body)
		if err == nil {
			vectors, used, err = parseVectors(raw, len(texts))
		}
		return used, err
	})
	if err != nil {
		return nil, 0, err
	}
	if used == 0 {
		used = estimate
	}
	return vectors, used, nil
}

// parseVectors reads a response with n vectors of the same length, and returns them in
// the order of the texts.
func parseVectors(body []byte, n int) (vectors [][]float64, used int, err error) {
	var c struct {
		Data []struct {
			Embedding []float64
			Index     *int
		}
		Usage struct {
			Prompt int `json:"prompt_tokens"`
			Total  int `json:"total_tokens"`
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, 0, modelhttp.Bad("the server's reply cannot be read: %s", modelhttp.ErrorBody(body))
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return nil, 0, words.ParseError(body)
	}
	if len(c.Data) != n {
		return nil, 0, modelhttp.Bad("the server sent %d vectors for %d texts", len(c.Data), n)
	}
	vectors = make([][]float64, n)
	for i, d := range c.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || vectors[at] != nil || len(d.Embedding) == 0 || len(d.Embedding) != len(c.Data[0].Embedding) {
			return nil, 0, modelhttp.Bad("the server's vector %d of %d is empty, of another length, or sent twice", at, n)
		}
		vectors[at] = d.Embedding
	}
	return vectors, max(c.Usage.Prompt, c.Usage.Total), nil
}
