package dataset_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

var program = &engine.Program{Parameters: []engine.Parameter{
	{Name: "question", Required: true, Schema: []byte(`{"type":"string"}`)},
	{Name: "limit", Default: 5.0, Schema: []byte(`{"type":"integer"}`)},
	{Name: "deep", Schema: []byte(`{"type":"boolean"}`)},
}}

func TestInputsAreTheColumnsOfTheirNames(t *testing.T) {
	type m = map[string]any
	for _, row := range []struct {
		name, format, text string
		want               m
	}{
		{"csv converts", "csv", "question,limit,deep,answer\n007,3,true,x\n", m{"question": "007", "limit": 3.0, "deep": true}},
		{"csv cell that is empty", "csv", "question,limit,deep\n,,\n", m{"question": "", "limit": 5.0}},
		{"jsonl", "jsonl", `{"question":"a=b","limit":4,"answer":"x"}`, m{"question": "a=b", "limit": 4.0}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := source(t, row.format, row.text)
			cases, err := all(s.Cases)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Inputs(program)(cases[0])
			if err != nil || !cmp.Equal(got, row.want) {
				t.Fatal(got, err)
			}
		})
	}
}

func TestInputsAreThoseOfTheSuite(t *testing.T) {
	filled := func(ns, name string) component.Value {
		var v component.Value
		v.Bind(func(l component.Lookup) any { got, _ := l(ns, name); return got })
		return v
	}
	for _, row := range []struct {
		name, format, text string
		parameters         map[string]component.Value
		want               map[string]any
		err                string
	}{
		{
			"from the row, and written", "jsonl", `{"topic":"tea","limit":99}`,
			map[string]component.Value{"question": filled("case", "topic"), "deep": {JSON: []byte("true")}},
			map[string]any{"question": "tea", "limit": 5.0, "deep": true},
			"",
		},
		{
			"from csv", "csv", "topic,n\n12,7\n",
			map[string]component.Value{"question": filled("case", "topic"), "limit": filled("case", "n")},
			map[string]any{"question": "12", "limit": 7.0},
			"",
		},
		{"none", "jsonl", `{"id":"a","question":"x"}`, map[string]component.Value{}, nil, "case a: parameter question is required"},
		{"unknown", "jsonl", `{"id":"a"}`, map[string]component.Value{"speed": {JSON: []byte("1")}}, nil, "case a: unknown parameter speed"},
		{"only the case is seen", "jsonl", `{"id":"a"}`, map[string]component.Value{"question": filled("parameters", "id")}, nil, "parameter question is required"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := source(t, row.format, row.text)
			s.Dataset.Parameters = row.parameters
			cases, err := all(s.Cases)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Inputs(program)(cases[0])
			if row.err == "" && (err != nil || !cmp.Equal(got, row.want)) || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Fatal(got, err)
			}
		})
	}
}
