package modelhttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// Secrets are redacted before a quote is shortened; otherwise the first half of one would remain.
func TestQuotesContainNoPartOfASecret(t *testing.T) {
	const key = "sk-Q7fX2LkZ9vT4mB8wR1yN6cJ3"
	long := strings.Repeat("x", 490)
	tests := []struct {
		name string
		bad  *model.Error
		want string
	}{
		{"a text", modelhttp.Bad("no list: %.20s", "0123456789"+key), "no list: 0123456789[redacted]"[:29]},
		{"JSON", modelhttp.Bad("no name, only %.20s", json.RawMessage(`{"a": 1, "`+key+`"`)), `no name, only {"a": 1, "[redacted]`[:34]},
		{"a body", modelhttp.Bad("no JSON: %s", modelhttp.ErrorBody(long+key)), "no JSON: " + long + "[redacted]"},
		{"a body's message", modelhttp.Bad("no choices: %s", modelhttp.ErrorBody(`{"error": {"message": "of `+key+`"}}`)), "no choices: of [redacted]"},
		{"a body in lines", modelhttp.Bad("no JSON: %s", modelhttp.ErrorBody("<b>\n  a\n"+key+"\n</b>")), "no JSON: <b> a [redacted] </b>"},
		{"an error and a number", modelhttp.Bad("reply %d: %s", 2, errors.New(key)), "reply 2: [redacted]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := modelhttp.Connect(model.Settings{Model: tt.name, APIKey: key}, "http://bad.test", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := &modelhttp.Client{HTTP: w, Model: "m"}
			_, err = c.Do(t.Context(), 1, func(context.Context) (int, error) { return 0, tt.bad })
			known, ok := errors.AsType[*model.Error](err)
			if !ok || known.Kind != model.BadReply || known.Message != tt.want {
				t.Errorf("message %v\nwant    %s", err, tt.want)
			}
		})
	}
}
