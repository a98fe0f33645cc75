package orderedjson_test

import (
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/engine/orderedjson"
)

func TestMembersKeepTheirOrder(t *testing.T) {
	const text = `{"b":1,"a":{"z":[1, 2],"y":null},"b":"again","\"<&":true}`
	o, ok := orderedjson.Parse(json.RawMessage(" " + text + "\n"))
	if !ok || string(o.JSON()) != text {
		t.Errorf("%t %s", ok, o.JSON())
	}
	if got := string(o.Get("b")) + string(o.Get("c")); got != "1" {
		t.Errorf("b and c are %s", got)
	}
	if o, ok := orderedjson.Parse(json.RawMessage(`{}`)); !ok || string(o.JSON()) != "{}" {
		t.Errorf("%t %s", ok, o.JSON())
	}
}

func TestParseRejectsOtherValues(t *testing.T) {
	for _, text := range []string{``, `[]`, `1`, `"{}"`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{"a":1}}`, `{"a":1} 2`, `{a:1}`} {
		if o, ok := orderedjson.Parse(json.RawMessage(text)); ok {
			t.Errorf("%s is %v", text, o)
		}
	}
}
