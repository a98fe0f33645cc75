package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/app/failure"
)

// PrintConversation writes the messages to and from every model. It omits
// messages that occurred at the same place in an earlier call.
func PrintConversation(w io.Writer, recs []journal.Record) error {
	asked, err := drift.Requests(recs)
	if err != nil {
		return failure.Infra(fmt.Errorf("conversation: %w", err))
	}
	replies := map[string]*journal.Record{}
	recs = journal.WithoutVoided(recs)
	for i := range recs {
		if recs[i].Kind == journal.Result {
			replies[recs[i].Path] = &recs[i]
		}
	}
	for i, a := range asked {
		text := fmt.Sprintf("\n── %s ──\n", a.Path)
		from, known := drift.SharedPrefix(asked[:i], a.Request)
		if known > 0 {
			text += fmt.Sprintf("(the first %d messages are the same as in %s)\n", known, from)
		}
		text += drift.Conversation(journal.Request{Messages: a.Request.Messages[known:]}) + replyText(replies[a.Path])
		if _, err := io.WriteString(w, Safe(w, text)); err != nil {
			return err
		}
	}
	return nil
}

// replyText returns the text of a reply, or why there is none.
func replyText(rec *journal.Record) string {
	if rec == nil {
		return "[no reply yet]\n"
	}
	if rec.Status != journal.OK {
		var f journal.Failure
		if json.Unmarshal(rec.Body, &f) != nil {
			f.Message = string(rec.Body)
		}
		return "[failed]\n" + f.Message + "\n"
	}
	var reply model.Reply
	if json.Unmarshal(rec.Body, &reply) != nil {
		return "[reply]\n" + string(rec.Body) + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[reply] %s, %d tokens in, %d out\n", reply.Stop, reply.Usage.Input, reply.Usage.Output)
	if reply.Text != "" {
		b.WriteString(strings.TrimRight(reply.Text, "\n") + "\n")
	}
	for _, call := range reply.Calls {
		fmt.Fprintf(&b, "call: %s %s\n", call.Name, call.Args)
	}
	return b.String()
}
