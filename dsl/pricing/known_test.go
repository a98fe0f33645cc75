package pricing

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/goldentest"
)

func TestKnownPricesAreThoseOfTheYAMLFile(t *testing.T) {
	text, err := os.ReadFile("prices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	u := &config.Unit{Report: &syntax.Report{}}
	l := parseList(u, syntax.Parse(&syntax.Source{Name: "prices.yaml", Text: text}, u.Report), &engine.Catalog{})
	if l == nil {
		t.Fatal(u.Report.List)
	}
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var short any
	if err := json.Unmarshal(b, &short); err != nil {
		t.Fatal(err)
	}
	if b, err = json.MarshalIndent(withoutZeros(short), "", " "); err != nil {
		t.Fatal(err)
	}
	goldentest.File(t, "../prices.json", string(b)+"\n")
}

// withoutZeros removes members of objects that have the zero value of their type.
func withoutZeros(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if v[key] = withoutZeros(member); member == nil || reflect.ValueOf(member).IsZero() {
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutZeros(v[i])
		}
	}
	return v
}
