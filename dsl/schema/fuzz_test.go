package schema_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/schema"
)

// FuzzSchemaCompile checks that Compile, Coerce and Validate do not panic,
// terminate, and return deterministic errors.
func FuzzSchemaCompile(f *testing.F) {
	for _, s := range []string{report, doubling(5), `{"$ref": "#/$defs/~0~1%25", "$defs": {"~/%": true}}`, `{"type": ["integer", "null"]}`, `{"$ref": "file:///x"}`, `{"not": {"if": {"const": 1e9}, "then": false}}`, `{"$anchor": "a", "items": {"$ref": "#a"}}`, `{"uniqueItems": true, "contains": {"format": "date"}, "minContains": 2}`} {
		f.Add(s, `{"title": "t", "score": "0.5", "tree": {"left": {"v": "1"}}}`)
		f.Add(s, `[1, "2", null, {"a": []}]`)
	}
	f.Fuzz(func(t *testing.T, src, value string) {
		start := time.Now()
		s, err := schema.Compile([]byte(src))
		if err != nil {
			if again, _ := schema.Compile([]byte(src)); again != nil {
				t.Fatal("compiles the second time")
			}
			return
		}
		v, err := schema.Decode([]byte(value))
		if err != nil {
			return
		}
		out, changed := s.Coerce(v)
		if len(changed) == 0 && cmp.Diff(v, out) != "" {
			t.Fatalf("%v became %v without a word", v, out)
		}
		a, b := s.Validate(out), s.Validate(out)
		if (a == nil) != (b == nil) || a != nil && a.Error() != b.Error() {
			t.Fatalf("first %v, then %v", a, b)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Fatalf("took %v", d)
		}
	})
}
