package opensearch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// cause is a reason of an error, with the reason that caused it.
type cause struct {
	Type     string `json:"type"`
	Reason   string `json:"reason"`
	Index    string `json:"index"`
	CausedBy *cause `json:"caused_by"`
}

// errorBody is an error response of OpenSearch. Error is an object or a string.
type errorBody struct {
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"` // used by AWS
}

// first returns the most specific reason: the first root cause, or that of a failed
// shard.
func (r errorBody) first() cause {
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
		return withCause(e.Root[0], e.CausedBy)
	case len(e.Shards) > 0:
		return e.Shards[0].Reason
	}
	return e.cause
}

// withCause returns c, with behind as its cause if it has none.
func withCause(c cause, behind *cause) cause {
	if c.CausedBy == nil && behind != nil && behind.Reason != c.Reason {
		c.CausedBy = behind
	}
	return c
}

// sentence returns the reason and the innermost cause.
func (c cause) sentence() string {
	inner := c.CausedBy
	for depth := 0; inner != nil && inner.CausedBy != nil && depth < 10; depth++ {
		inner = inner.CausedBy
	}
	text := c.Reason
	if inner != nil && inner.Reason != "" && !strings.Contains(text, inner.Reason) {
		text += ": " + inner.Reason
	}
	return clipReason(text)
}

func clipReason(s string) string {
	return text.Clip(text.OneLine(s), 1000)
}

// queryErrors are the error types that a corrected query can fix.
var queryErrors = map[string]bool{
	"parsing_exception": true, "x_content_parse_exception": true, "named_object_not_found_exception": true, "json_parse_exception": true,
	"query_shard_exception": true, "illegal_argument_exception": true, "number_format_exception": true, "parse_exception": true,
	"search_phase_execution_exception": true, "action_request_validation_exception": true, "too_many_clauses": true, "too_many_nested_clauses": true,
}

// statusError converts an error response into an error for the model.
func statusError(resp *http.Response, body []byte) error {
	var r errorBody
	c := cause{Reason: string(body)}
	if json.Unmarshal(body, &r) == nil {
		c = r.first()
	}
	reason := cmp.Or(c.sentence(), strings.TrimSpace(c.Type))
	switch {
	case c.Type == "index_not_found_exception":
		return fmt.Errorf("index %q does not exist; list the indices to see the available ones", cmp.Or(c.Index, resp.Request.URL.Path))
	case c.Type == "index_closed_exception":
		return fmt.Errorf("the index is closed: %s", reason)
	case queryErrors[c.Type] && resp.StatusCode/100 == 4:
		return fmt.Errorf("OpenSearch cannot run the query: %s; check the index mapping and fix the query", reason)
	case resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("OpenSearch authentication failed (%s): %s", resp.Status, cmp.Or(reason, "the credentials in auth are wrong or missing"))
	case resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("OpenSearch denied access (%s): %s", resp.Status, cmp.Or(reason, "the user may not read the index"))
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable:
		return fmt.Errorf("OpenSearch is busy (%s): %s; try again later, or request less", resp.Status, cmp.Or(reason, "no details"))
	case resp.StatusCode/100 == 3:
		return fmt.Errorf("OpenSearch redirects (%s), and redirects are not followed", resp.Status)
	}
	return fmt.Errorf("OpenSearch: %s: %s", resp.Status, cmp.Or(reason, "no details"))
}
