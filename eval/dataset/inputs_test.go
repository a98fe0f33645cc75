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

func TestInputsFromColumns(t *testing.T) {
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

func TestInputsFromSuite(t *testing.T) {
	filled := func(ns, name string) component.Value {
		var v component.Value
		v.Bind(func(l component.Lookup) any { got, _ := l(ns, name); return got })
		return v
	}
	within := func(column, otherwise string) component.Value {
		v := component.Value{JSON: []byte(`"on ${case.` + column + otherwise + `}"`)}
		v.Bind(func(l component.Lookup) any {
			got, _ := l("case", column)
			text, _ := got.(string)
			return "on " + text
		})
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
		{
			"a column that the row lacks", "jsonl", `{"topic":"tea"}`,
			map[string]component.Value{"question": filled("case", "topic"), "limit": filled("case", "limit")},
			map[string]any{"question": "tea", "limit": 5.0},
			"",
		},
		{"a text with a hole", "jsonl", `{"id":"a"}`, map[string]component.Value{"question": within("topic", "")}, nil, "case a: parameter question: the row has no column topic"},
		{"a text with a default", "jsonl", `{"id":"a"}`, map[string]component.Value{"question": within("topic", ":-tea")}, map[string]any{"question": "on ", "limit": 5.0}, ""},
		{"none", "jsonl", `{"id":"a","question":"x"}`, map[string]component.Value{}, nil, "case a: parameter question is required: dataset.parameters does not set it: add question: ${case.COLUMN}"},
		{"no column", "jsonl", `{"id":"a"}`, nil, nil, "case a: parameter question is required: the row has no column question, and dataset.parameters does not set it"},
		{"an empty column", "jsonl", `{"id":"a","question":null}`, nil, nil, "case a: parameter question is required: column question is empty"},
		{"unknown", "jsonl", `{"id":"a"}`, map[string]component.Value{"speed": {JSON: []byte("1")}}, nil, `case a: unknown parameter "speed"`},
		{"only the case is seen", "jsonl", `{"id":"a"}`, map[string]component.Value{"question": filled("parameters", "id")}, nil, "parameter question is required: dataset.parameters.question has no value for this row"},
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

func TestCheckColumns(t *testing.T) {
	of := func(columns ...string) component.Value {
		var v component.Value
		v.Bind(func(l component.Lookup) any {
			for _, c := range columns {
				_, _ = l("case", c)
			}
			return nil
		})
		return v
	}
	for _, row := range []struct {
		name, text string
		of         component.Value
		err        string
	}{
		{"in the first row", `{"topic":1}`, of("topic"), ""},
		{"in a later row", "{\"id\":1}\n{\"topic\":1}", of("topic"), ""},
		{"in none", "{\"id\":1}\n{\"topic\":1}", of("tropic"), "dataset.parameters.question refers to case.tropic, but no row has this column; the columns are id, topic"},
		{"one of two", `{"topic":1}`, of("topic", "lang"), "case.lang"},
		{"a field of one", `{"topic":{"lang":"de"}}`, of("topic.lang", "topic"), ""},
		{"a row that cannot be read", "{\"id\":1}\n{", of("topic"), ""},
		{"nothing refers", `{"id":1}`, of(), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := source(t, "jsonl", row.text)
			s.Dataset.Parameters = map[string]component.Value{"question": row.of}
			if err := s.CheckColumns(); (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Error(err)
			}
		})
	}
}
