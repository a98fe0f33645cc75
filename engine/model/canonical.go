package model

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Canonical returns the reply as decoding its JSON returns it: valid UTF-8, raw JSON on
// one line, nil for empty lists, no Bound. It returns r itself if nothing changes.
func (r *Reply) Canonical() *Reply {
	if r == nil {
		return nil
	}
	c := *r
	c.Bound = nil
	for _, s := range []*string{&c.Text, &c.Model, &c.ID, (*string)(&c.Stop)} {
		*s = jsonvalue.ValidString(*s)
	}
	same := c.Bound == r.Bound && c.Text == r.Text && c.Model == r.Model && c.ID == r.ID && c.Stop == r.Stop
	if r.Calls != nil && len(r.Calls) == 0 {
		c.Calls, same = nil, false
	}
	for i, cloned := 0, false; i < len(r.Calls); i++ {
		call := r.Calls[i].canonical()
		if call.identical(&r.Calls[i]) {
			continue
		}
		if !cloned { // the provider may still use its reply
			c.Calls, cloned = slices.Clone(r.Calls), true
		}
		c.Calls[i], same = call, false
	}
	if same {
		return r
	}
	return &c
}

func (c ToolCall) canonical() ToolCall {
	c.ID, c.Name = jsonvalue.ValidString(c.ID), jsonvalue.ValidString(c.Name)
	c.Args, c.Opaque = canonicalRaw(c.Args), canonicalRaw(c.Opaque)
	return c
}

// canonicalRaw returns invalid JSON as valid UTF-8: arguments may be any text.
func canonicalRaw(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if b, ok := jsonvalue.CompactRaw(raw); ok {
		return b
	}
	return json.RawMessage(jsonvalue.ValidString(string(raw)))
}

// identical reports whether two calls have the same bytes.
func (c *ToolCall) identical(d *ToolCall) bool {
	return c.ID == d.ID && c.Name == d.Name && string(c.Args) == string(d.Args) && string(c.Opaque) == string(d.Opaque) &&
		(c.Args == nil) == (d.Args == nil) && (c.Opaque == nil) == (d.Opaque == nil)
}

// AppendJSON appends the JSON of a canonical reply to b: what encoding/json writes, without
// reflection. The error names a call whose Opaque is not JSON.
func (r *Reply) AppendJSON(b []byte) ([]byte, error) {
	if r == nil {
		return append(b, "null"...), nil
	}
	for i := range r.Calls {
		if c := &r.Calls[i]; len(c.Opaque) > 0 && !json.Valid(c.Opaque) {
			return nil, fmt.Errorf("tool call %d (%s): opaque is not JSON", i+1, c.Name)
		}
	}
	o := jsonvalue.NewObject(b)
	o.Text("text", r.Text)
	if len(r.Calls) > 0 {
		o.Key("calls")
		o.Value(func(b []byte) []byte { return appendCalls(b, r.Calls) })
	}
	o.String("stop", string(r.Stop))
	o.Key("usage")
	o.Value(r.Usage.appendJSON)
	o.True("estimated", r.Estimated)
	o.True("uncounted", r.Uncounted)
	o.Count("sent_tokens", int64(r.Sent))
	o.Text("model", r.Model)
	o.Text("id", r.ID)
	o.Count("attempts", int64(r.Attempts))
	o.Count("latency", int64(r.Latency))
	o.Count("first_token", int64(r.FirstToken))
	return o.End(), nil
}

func appendCalls(b []byte, calls []ToolCall) []byte {
	b = append(b, '[')
	for i := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		c := &calls[i]
		o := jsonvalue.NewObject(b)
		o.Text("id", c.ID)
		o.String("name", c.Name)
		if json.Valid(c.Args) {
			o.Raw("args", c.Args)
		} else {
			o.Text("args_text", string(c.Args))
		}
		o.Raw("opaque", c.Opaque)
		b = o.End()
	}
	return append(b, ']')
}

func (t Tokens) appendJSON(b []byte) []byte {
	o := jsonvalue.NewObject(b)
	o.Int("input_tokens", int64(t.Input))
	o.Int("output_tokens", int64(t.Output))
	o.Count("cached_input_tokens", int64(t.Cached))
	o.Count("cache_write_tokens", int64(t.CacheWrite))
	o.Count("reasoning_tokens", int64(t.Reasoning))
	return o.End()
}
