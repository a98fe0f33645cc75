package opensearch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// cause is one reason of a refusal, with the reasons behind it.
type cause struct {
	Type     string `json:"type"`
	Reason   string `json:"reason"`
	Index    string `json:"index"`
	CausedBy *cause `json:"caused_by"`
}

// refusal is an error as OpenSearch writes it: error is an object, or a text.
type refusal struct {
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"` // AWS's
}

// first is the reason that says most: the first root, or a failed shard's.
func (r refusal) first() cause {
	var e struct {
		cause
		Root   []cause                  `json:"root_cause"`
		Shards []struct{ Reason cause } `json:"failed_shards"`
	}
	var text string
	if json.Unmarshal(r.Error, &text) == nil {
		return cause{Reason: text}
	}
	if json.Unmarshal(r.Error, &e) != nil {
		return cause{Reason: r.Message}
	}
	switch {
	case len(e.Root) > 0:
		return withBehind(e.Root[0], e.CausedBy)
	case len(e.Shards) > 0:
		return e.Shards[0].Reason
	}
	return e.cause
}

// withBehind is a cause with what stands behind the whole refusal, where it has
// nothing of its own.
func withBehind(c cause, behind *cause) cause {
	if c.CausedBy == nil && behind != nil && behind.Reason != c.Reason {
		c.CausedBy = behind
	}
	return c
}

// sentence is a cause and the innermost one behind it.
func (c cause) sentence() string {
	inner := c.CausedBy
	for depth := 0; inner != nil && inner.CausedBy != nil && depth < 10; depth++ {
		inner = inner.CausedBy
	}
	text := c.Reason
	if inner != nil && inner.Reason != "" && !strings.Contains(text, inner.Reason) {
		text += ": " + inner.Reason
	}
	return shortened(text)
}

func shortened(s string) string {
	return text.Clip(text.OneLine(s), 1000)
}

// unreadable are the types of errors that a better query mends.
var unreadable = map[string]bool{
	"parsing_exception": true, "x_content_parse_exception": true, "named_object_not_found_exception": true, "json_parse_exception": true,
	"query_shard_exception": true, "illegal_argument_exception": true, "number_format_exception": true, "parse_exception": true,
	"search_phase_execution_exception": true, "action_request_validation_exception": true, "too_many_clauses": true, "too_many_nested_clauses": true,
}

// refused is what a model is told of an answer that is none.
func refused(resp *http.Response, body []byte) error {
	var r refusal
	c := cause{Reason: string(body)}
	if json.Unmarshal(body, &r) == nil {
		c = r.first()
	}
	said := cmp.Or(c.sentence(), strings.TrimSpace(c.Type))
	switch {
	case c.Type == "index_not_found_exception":
		return fmt.Errorf("there is no index %q; list the indices to see which there are", cmp.Or(c.Index, resp.Request.URL.Path))
	case c.Type == "index_closed_exception":
		return fmt.Errorf("the index is closed: %s", said)
	case unreadable[c.Type] && resp.StatusCode/100 == 4:
		return fmt.Errorf("OpenSearch cannot carry out the query: %s; check the index mapping and fix the query", said)
	case resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("OpenSearch does not know who asks (%s): %s", resp.Status, cmp.Or(said, "the credentials under auth are wrong, or none are given"))
	case resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("OpenSearch does not allow this (%s): %s", resp.Status, cmp.Or(said, "who asks may not read the index"))
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable:
		return fmt.Errorf("OpenSearch is busy (%s): %s; try again later, or ask for less", resp.Status, cmp.Or(said, "it does not say with what"))
	case resp.StatusCode/100 == 3:
		return fmt.Errorf("OpenSearch's address leads elsewhere (%s), which is not followed", resp.Status)
	}
	return fmt.Errorf("OpenSearch: %s: %s", resp.Status, cmp.Or(said, "it does not say why"))
}
