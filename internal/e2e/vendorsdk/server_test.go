package vendorsdk_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/model"
)

// sentBody returns the body of the request that send makes to a server at base, which
// answers with reply.
func sentBody(t *testing.T, reply string, send func(base string) error) (body any) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Errorf("%v in %s", err, raw)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, reply)
	}))
	defer s.Close()
	if err := send(s.URL); err != nil {
		t.Fatal(err)
	}
	return body
}

// same reports differences of the bodies that two senders make of a request.
func same(t *testing.T, reply string, sdk, provider func(base string) error) {
	t.Helper()
	if diff := cmp.Diff(sentBody(t, reply, sdk), sentBody(t, reply, provider)); diff != "" {
		t.Errorf("-SDK +provider\n%s", diff)
	}
}

// streaming returns the delta function of a streamed request, or nil.
func streaming(streamed bool) func(model.Delta) {
	if !streamed {
		return nil
	}
	return func(model.Delta) {}
}

// fields decodes a JSON object.
func fields(t *testing.T, raw json.RawMessage) (out map[string]any) {
	t.Helper()
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
