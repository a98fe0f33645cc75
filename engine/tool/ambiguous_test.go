package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/tool"
)

func TestAmbiguousArgumentsAreNamed(t *testing.T) {
	nine := `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1`
	for raw, want := range map[string]string{
		`{}`: "", `[]`: "", `null`: "", `"a"`: "", `{"a":{"b":[{"c":1},{"c":1}]},"b":1}`: "",
		`{"a":1,"a":2}`:                         "duplicate argument a",
		` { "a" : { "b" : 1 , "b" : 2 } } `:     "duplicate argument a.b",
		`{"a":[0,{"b":1,"\u0062":2}]}`:          "duplicate argument a[1].b",
		nine + `}`:                              "",
		nine + `,"c":1}`:                        "duplicate argument c",
		nine + `,"x":{"y":1,"y":1}}`:            "duplicate argument x.y",
		`{"a":"{\"b\":1,\"b\":2}"}`:             "",
		`{"n":1e999}`:                           "the argument n has the number 1e999",
		`{"n":[1,-1e-999]}`:                     "the argument n[1] has the number -1e-999",
		`{"n":0e-999}`:                          "",
		`[` + strings.Repeat("1", 101) + `]`:    "the argument [0] has the number 111",
		`{"n":` + strings.Repeat("9", 90) + `}`: "",
	} {
		got := ""
		if err := tool.Unambiguous(json.RawMessage(raw)); err != nil {
			got = err.Error()
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}

func FuzzUnambiguousFindsDuplicates(f *testing.F) {
	for _, s := range []string{`{"a":1,"a":2}`, `[{"a":{"a":1}},{"\u0061":1,"a":2}]`, `{"":{"":[]},"x":"\"}"}`, `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":[],"a":1}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) || len(s) > 5000 {
			return
		}
		err := tool.Unambiguous(json.RawMessage(s))
		got := err != nil && strings.HasPrefix(err.Error(), "duplicate argument")
		if err != nil && !got {
			return // a number
		}
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		if want := hasDuplicate(t, d); got != want {
			t.Errorf("%s: duplicate: got %v, want %v", s, got, want)
		}
	})
}

// hasDuplicate reads one value and reports whether an object in it has a key twice.
func hasDuplicate(t *testing.T, d *json.Decoder) (found bool) {
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	open, ok := token.(json.Delim)
	if !ok {
		return false
	}
	keys := map[string]bool{}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			k := fmt.Sprint(key)
			found = found || keys[k]
			keys[k] = true
		}
		found = hasDuplicate(t, d) || found
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	return found
}
