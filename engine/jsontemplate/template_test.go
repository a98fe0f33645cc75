package jsontemplate_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/jsonvalue"
)

var reference = regexp.MustCompile(`\$\{args\.(\w+)\}`)

// bound returns a value whose strings are templates, as the compiler of specs does, with
// references of a single form.
func bound(t testing.TB, source string) component.Value {
	t.Helper()
	var tree any
	if err := jsontemplate.Decode([]byte(source), &tree); err != nil {
		t.Fatal(err)
	}
	v := component.Value{JSON: json.RawMessage(source)}
	v.Bind(func(l component.Lookup) any { return filled(tree, l) })
	return v
}

func filled(tree any, l component.Lookup) any {
	switch v := tree.(type) {
	case string:
		if m := reference.FindStringSubmatch(v); m != nil && m[0] == v {
			found, _ := l("args", m[1])
			return found
		}
		return reference.ReplaceAllStringFunc(v, func(s string) string {
			found, ok := l("args", reference.FindStringSubmatch(s)[1])
			if !ok {
				return ""
			}
			return jsontemplate.Text(found)
		})
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			out[key] = filled(inner, l)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = filled(inner, l)
		}
		return out
	}
	return tree
}

func of(values map[string]any) component.Lookup {
	return func(_, name string) (any, bool) {
		v, ok := values[name]
		return v, ok
	}
}

func TestFill(t *testing.T) {
	values := map[string]any{"text": `a "b"`, "number": json.Number("12345678901234567"), "tree": map[string]any{"k": []any{true}}}
	tests := []struct {
		name, source, want string
	}{
		{"a mapping", `{"t": "${args.text}", "in": "<${args.text}>", "n": "${args.number}"}`, `{"in":"<a \"b\">","n":12345678901234567,"t":"a \"b\""}`},
		{"a list", `["${args.text}", "${args.tree}", null]`, `["a \"b\"",{"k":[true]},null]`},
		{"JSON text", `"{\"t\": ${args.text}, \"in\": \"<${args.text}>\", \"tree\": ${args.tree}}"`, `{"in":"<a \"b\">","t":"a \"b\"","tree":{"k":[true]}}`},
		{"what is unset", `{"t": "${args.none}", "of": {"deep": "${args.none}"}, "kept": null, "list": ["${args.none}", 1]}`, `{"kept":null,"list":[1]}`},
		{"what is unset in text", `"{\"t\": ${args.none}, \"list\": [${args.none}, 1], \"kept\": null}"`, `{"kept":null,"list":[1]}`},
		{"all unset", `{"t": "${args.none}"}`, `null`},
		{"a text within", `"[\"${args.text}\", ${args.number}]"`, `["a \"b\"",12345678901234567]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			made, err := jsontemplate.New("body", bound(t, tt.source))
			if err != nil {
				t.Fatal(err)
			}
			got, err := made.Fill(of(values))
			if err != nil {
				t.Fatal(err)
			}
			text, err := jsonvalue.Marshal(got)
			if diff := cmp.Diff(tt.want, string(text)); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestInvalidTemplates(t *testing.T) {
	for source, want := range map[string]string{
		`7`: "body is neither a mapping nor JSON text", `null`: "body is neither", `"\ue000"`: "private-use",
	} {
		if _, err := jsontemplate.New("body", bound(t, source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", source, err)
		}
	}
	made, err := jsontemplate.New("body", bound(t, `"a=${args.text}"`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := made.Fill(of(nil)); err == nil || !strings.Contains(err.Error(), "body is not valid JSON after its references are replaced") {
		t.Errorf("error %v", err)
	}
	list, err := jsontemplate.New("body", bound(t, `[1]`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := list.Object(of(nil)); err == nil || !strings.Contains(err.Error(), "not a JSON object") {
		t.Errorf("error %v", err)
	}
}

// FuzzValuesKeepTheStructure checks that values do not change the structure.
func FuzzValuesKeepTheStructure(f *testing.F) {
	for _, s := range []string{"", `"`, `\`, `","admin":true,"x":"`, "\ue000" + "0" + "\ue001", "\ue002", "${args.v}", "\xff", "{}", "null"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, v string) {
		for _, source := range []string{`{"a": "${args.v}", "in": "<${args.v}>"}`, `"{\"a\": ${args.v}, \"in\": \"<${args.v}>\"}"`} {
			made, err := jsontemplate.New("body", bound(t, source))
			if err != nil {
				t.Fatal(err)
			}
			got, err := made.Fill(of(map[string]any{"v": v}))
			if err != nil {
				t.Fatalf("%q: %v", v, err)
			}
			if diff := cmp.Diff(any(map[string]any{"a": v, "in": "<" + v + ">"}), got); diff != "" {
				t.Errorf("%q: %s", v, diff)
			}
		}
	})
}
