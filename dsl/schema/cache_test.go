package schema_test

import (
	"fmt"
	"testing"

	"github.com/pexctl/pex/dsl/schema"
)

func TestCacheKeepsSchemas(t *testing.T) {
	var c schema.Cache
	numbers, err := c.Compile([]byte(`{"type": "number"}`))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Compile([]byte(`{"type": "number"}`)); err != nil || again != numbers {
		t.Errorf("compiled again: %v", err)
	}
	texts, err := c.Compile([]byte(`{"type": "string"}`))
	if err != nil || texts.Validate("a") != nil || numbers.Validate("a") == nil {
		t.Errorf("another schema: %v", err)
	}
	if _, err := c.Compile([]byte(`{"type": 1}`)); err == nil {
		t.Error("an invalid schema compiled")
	}
	for i := range 1000 { // its size is limited
		if _, err := c.Compile(fmt.Appendf(nil, `{"const": %d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	var none *schema.Cache
	if s, err := none.Compile([]byte(`true`)); err != nil || s == nil {
		t.Errorf("without a cache: %v", err)
	}
}
