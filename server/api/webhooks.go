package api

import (
	"context"
	"net/http"
	"time"

	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/webhook"
)

func (a *operations) addWebhooks() {
	s := a.server
	add(a, describe{
		id: "listWebhooks", method: http.MethodGet, path: "/v1/webhooks", tag: "webhooks", summary: "List webhooks and the state of their deliveries",
		responses: map[int]any{200: WebhookList{}}, problems: []int{403},
	}, s.listWebhooks)
	add(a, describe{
		id: "testWebhook", method: http.MethodPost, path: "/v1/webhooks/{name}/test", tag: "webhooks", summary: "Send a test message to a webhook",
		text:      "Sends a message of type webhook.test, once, and waits for the response of the receiver, up to 15 seconds.",
		responses: map[int]any{200: WebhookTest{}}, problems: []int{403, 404},
	}, s.testWebhook)
}

// WebhookList has the webhooks of a tenant.
type WebhookList struct {
	Webhooks []Webhook `json:"webhooks"`
}

// Webhook is a receiver of events, and the state of its deliveries for the client's tenant.
type Webhook struct {
	Name      string        `json:"name"`
	Receiver  string        `json:"receiver" doc:"Scheme, host and port of its URL."`
	Events    []string      `json:"events"`
	Agents    []string      `json:"agents,omitempty" doc:"Missing = all."`
	Disabled  bool          `json:"disabled" doc:"The receiver replied 410. Deliveries continue after a reload."`
	Pending   int           `json:"pending" doc:"Messages that are not delivered yet."`
	Delivered int           `json:"delivered" doc:"Messages delivered since the server started."`
	Failed    int           `json:"failed" doc:"Messages given up since the server started."`
	LastError *WebhookError `json:"last_error,omitempty" doc:"The last failed attempt since the server started."`
}

// WebhookError is a failed attempt to deliver a message.
type WebhookError struct {
	At      time.Time `json:"at"`
	Run     string    `json:"run_id"`
	Cursor  string    `json:"cursor" doc:"Of the event."`
	Type    string    `json:"type" doc:"Of the event."`
	Attempt int       `json:"attempt"`
	Error   string    `json:"error"`
}

// WebhookTest is the outcome of a test.
type WebhookTest struct {
	Delivered bool   `json:"delivered"`
	Status    int    `json:"status,omitempty" doc:"Status of the response; missing = no response."`
	Duration  int64  `json:"duration_ms"`
	Error     string `json:"error,omitempty"`
}

// webhooks returns the webhooks of the client's tenant.
func (s *server) webhooks(ctx context.Context) (*webhook.Outbox, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	return c.Webhooks, c.Permit(auth.Admin, nil)
}

func (s *server) listWebhooks(ctx context.Context, _ *struct{}) (reply, error) {
	hooks, err := s.webhooks(ctx)
	if err != nil {
		return nil, err
	}
	list := WebhookList{Webhooks: []Webhook{}}
	if hooks != nil {
		for _, st := range hooks.List() {
			list.Webhooks = append(list.Webhooks, Webhook{
				Name: st.Name, Receiver: st.Receiver, Events: st.Events, Agents: st.Agents, Disabled: st.Disabled,
				Pending: st.Pending, Delivered: st.Delivered, Failed: st.Failed, LastError: (*WebhookError)(st.LastError),
			})
		}
	}
	return replyJSON(http.StatusOK, list)
}

type webhookRequest struct {
	Name string `path:"name" doc:"Name of a webhook."`
}

func (s *server) testWebhook(ctx context.Context, in *webhookRequest) (reply, error) {
	hooks, err := s.webhooks(ctx)
	if err != nil {
		return nil, err
	}
	var t webhook.Tested
	found := false
	if hooks != nil {
		t, found = hooks.Test(ctx, in.Name)
	}
	if !found {
		return nil, problem.New(problem.NotFound, "no webhook %q", in.Name)
	}
	out := WebhookTest{Delivered: t.Err == nil, Status: t.Status, Duration: t.Duration.Milliseconds()}
	if t.Err != nil {
		out.Error = t.Err.Error()
	}
	return replyJSON(http.StatusOK, out)
}
