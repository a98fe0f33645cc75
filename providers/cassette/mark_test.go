package cassette_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/providers/cassette"
)

// A request that contained a key matches if the key is known, whatever its value, and does not match otherwise.
func TestRequestWithASecretMatches(t *testing.T) {
	const key = "canary-in-a-coal-mine"
	call := query("the key is can", "ary-in-a-coal-mine.")
	call.Messages = append(call.Messages, model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: "1", Name: "look", Args: json.RawMessage(`{"key":"` + key + `"}`)}}})
	path, was := recordCalls(t, callNode{calls: []model.Call{call}}, secret.New(map[string]string{"API_KEY": key}), "you said "+key)
	for value, want := range map[string]string{
		key: "you said [redacted API_KEY]",
		"":  `(recorded "the key is [redacted API_KEY].", now "the key is canary-in-a-coal-mine.")`,
	} {
		m := played(t, path, func(_ *cassette.Config, s *model.Settings) {
			s.Env = func(name string) string { return map[string]string{"API_KEY": value}[name] }
		})
		if got := describeDifference(t, m, was.requests[0]); !strings.Contains(got, want) {
			t.Errorf("%q: %s", value, got)
		}
	}
}

// Tools receive this machine's folders instead of their marks. Marks of possible secrets, and of names that the
// recording does not contain, are not replaced.
func TestReplyContainsFoldersOfThisMachine(t *testing.T) {
	path, l := recordCalls(
		t, callNode{calls: []model.Call{query("Hi")}},
		secret.New(map[string]string{"DATA": "/srv/data", "API_KEY": "canary-in-a-coal-mine", "ODD": "/o/dd/place"}),
		`look at /srv/data/a.txt, /o/dd/place with canary-in-a-coal-mine: {"dir":"/srv/data"}`,
	)
	here := map[string]string{"DATA": "/home/ana/data", "API_KEY": "another-one", "ODD": `/o"dd`}
	m := played(t, path, func(_ *cassette.Config, s *model.Settings) {
		s.Env = func(name string) string { return here[name] }
	})
	want := `look at /home/ana/data/a.txt, [redacted ODD] with [redacted API_KEY]: {"dir":"/home/ana/data"}`
	if got := describeDifference(t, m, l.requests[0]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
