package opensearch

import (
	"iter"
	"maps"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/turn"
)

// stream starts a run and responds with its progress and its answer as they come. Chunks with
// progress have no content, so that a client that joins the contents has the answer.
func (s *service) stream(c *call) (any, error) {
	start, _, err := c.start()
	if err != nil {
		return nil, err
	}
	stream, err := c.OpenStream(c.ctx())
	if err != nil {
		return nil, err
	}
	defer stream.Release()
	if _, err := start.Run(c.ctx()); err != nil {
		return nil, err
	}
	changes, err := turn.Follow(c.Client, stream, start.RunID, 0)
	if err != nil {
		return nil, err
	}
	_ = feed.Write(c.w, c.r, c.chunks(start.RunID, changes), feed.EventStream) // the client may be gone; the run continues
	return nil, nil
}

// chunks returns the chunks of a response.
func (c *call) chunks(run string, changes iter.Seq2[*turn.Turn, turn.Change]) iter.Seq[feed.Item] {
	return func(yield func(feed.Item) bool) {
		var ids []object
		send := func(content string, more object) bool {
			data := object{"content": content, "is_last": false}
			maps.Copy(data, more)
			output := append(append([]object{}, ids...), object{"name": "response", "dataAsMap": data})
			return yield(feed.Item{Data: jsonvalue.Encode(object{"inference_results": []object{{"output": output}}})})
		}
		if s, err := c.result(run); err == nil {
			for _, id := range s.ids()[:min(2, len(s.ids()))] { // the executor's come later
				ids = append(ids, object{"name": id[0], "result": id[1]})
			}
		}
		for t, change := range changes {
			switch line := t.Line(change); {
			case change.Kind == turn.Asked:
				if !send(turn.Prompt(t.Open), object{"interrupts": t.Open, "run_id": run, "is_last": true, "stop_reason": stop.Interrupted}) {
					return
				}
				return
			case change.Kind == turn.Ended, change.Kind == turn.Paused:
				c.last(run, send)
				return
			case line != "" && !send("", object{"progress": line}):
				return
			}
		}
	}
}

// last sends the answer of a run, or why there is none.
func (c *call) last(run string, send func(string, object) bool) {
	more := object{"is_last": true, "run_id": run}
	s, err := c.result(run)
	switch {
	case err != nil:
		more["error"] = "the run cannot be read"
		send("", more)
	case s.Status == stop.RunCompleted || s.Status == stop.RunStopped:
		more["stop_reason"] = s.StopReason.Code
		send(s.text(), more)
	default:
		more["stop_reason"], more["error"] = s.StopReason.Code, s.errorMessage()
		send("", more)
	}
}
