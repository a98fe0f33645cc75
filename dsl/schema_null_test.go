package dsl_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/jsonschema"
)

// nullBase is a spec with all sections, and a place for one key without a value.
const nullBase = `apiVersion: pex/v1
kind: Agent
metadata: {name: x, %[1]s}
llms: {main: {provider: scripted, options: {replies: [{role: planner, text: x}]}, %[2]s}}
tools:
  clock: {%[3]s}
  say: {type: command, argv: [echo], effect: read, %[4]s}
limits: {%[5]s}
output: {%[6]s}
memory: {%[7]s}
planner: {%[8]s}
executor: {%[9]s}
reflector: {%[10]s}
finalizer: {%[11]s}
guards: [{name: a, at: after_step, when: run.steps_executed > 9, do: stop, %[12]s}]
%[13]s
`

// nullPlaces are the places in the schema of those keys.
var nullPlaces = []string{
	"agent/properties/metadata", "llm", "tool", "tool.command", "agent/properties/limits", "agent/properties/output", "agent/properties/memory",
	"node.planner", "node.executor", "node.reflector", "node.finalizer", "agent/properties/guards/items", "agent",
}

// TestSchemaAcceptsNullsLikeTheCompiler leaves out the value of each key of the
// language, one at a time: the schema accepts that exactly if the compiler does.
func TestSchemaAcceptsNullsLikeTheCompiler(t *testing.T) {
	s := specSchema(t)
	var schema struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(jsonschema.New(catalog, checks), &schema); err != nil {
		t.Fatal(err)
	}
	path, looked := filepath.Join(t.TempDir(), "spec.yaml"), 0
	for i, place := range nullPlaces {
		for _, key := range keysAt(t, schema.Defs, place) {
			parts := slices.Repeat([]any{""}, len(nullPlaces))
			parts[i] = key + ": "
			source := fmt.Sprintf(nullBase, parts...)
			if _, found := dsl.JSON(path, []byte(source)); found.Failed() {
				continue // the base already has the key with a value
			}
			if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			looked++
			_, _, found := dsl.Compile(path, dsl.Options{Catalog: catalog})
			if err := s.Validate(decoded(t, path, source)); (err == nil) == found.Failed() {
				t.Errorf("%s, %s: null: the compiler says %q, the schema %v", place, key, found.String(), err)
			}
		}
	}
	if looked < 100 {
		t.Errorf("only %d keys were looked at", looked)
	}
}

// keysAt returns the keys of the properties at a place in the definitions.
func keysAt(t *testing.T, defs map[string]any, place string) []string {
	t.Helper()
	at := defs
	for key := range strings.SplitSeq(place, "/") {
		below, ok := at[key].(map[string]any)
		if !ok {
			t.Fatalf("the schema has no %s", place)
		}
		at = below
	}
	return slices.Sorted(maps.Keys(at["properties"].(map[string]any)))
}
