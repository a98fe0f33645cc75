package jsonvalue_test

import (
	"testing"

	"github.com/pexctl/pex/engine/jsonvalue"
)

func TestMarshalIndentHasNoHTMLEscapes(t *testing.T) {
	b, err := jsonvalue.MarshalIndent(map[string]string{"a": "<b>"})
	if err != nil || string(b) != "{\n  \"a\": \"<b>\"\n}" {
		t.Errorf("got %s, %v", b, err)
	}
	if _, err := jsonvalue.Marshal(func() {}); err == nil {
		t.Error("no error for a function")
	}
	if got := jsonvalue.Quote("<&>\n\""); got != `"<&>\n\""` {
		t.Errorf("got %s", got)
	}
}
