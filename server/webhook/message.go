package webhook

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/feed"
)

// message is what a receiver gets about one event.
type message struct {
	id     string // the same for each attempt, also after a restart
	kind   engine.EventType
	cursor feed.Cursor
	body   []byte
}

// payload is the body of a message.
type payload struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"`
}

// eventData is the data of a payload.
type eventData struct {
	Tenant string          `json:"tenant"`
	Agent  string          `json:"agent,omitempty"`
	Run    string          `json:"run_id"`
	Cursor string          `json:"cursor"`
	Event  json.RawMessage `json:"event"`
}

// newMessage returns the message about an event of a run.
func newMessage(hook, tenant, agent string, ev *engine.Event) message {
	at := feed.Cursor{Rewinds: ev.Rewinds, Seq: ev.Seq}
	return message{
		id:     messageID(tenant, ev.Run, at.String(), hook, ev.At.UTC().Format(time.RFC3339Nano)),
		kind:   ev.Type,
		cursor: at,
		body: jsonvalue.Encode(payload{string(ev.Type), ev.At, eventData{
			Tenant: tenant, Agent: agent, Run: ev.Run, Cursor: at.String(), Event: feed.Encode(*ev),
		}}),
	}
}

// messageID returns an id that is the same for the same parts. The time of the event is one
// of them, since the id of a deleted run may be used again.
func messageID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "msg_" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:26])
}
