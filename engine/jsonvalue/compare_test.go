package jsonvalue_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/pexctl/pex/engine/jsonvalue"
)

func TestEqualComparesByValue(t *testing.T) {
	object := func(v any) any { return map[string]any{"a": v, "b": []any{"x", nil}} }
	for _, c := range []struct {
		name string
		a, b any
		want bool
	}{
		{"ints", 1, 1, true},
		{"int and float", 1, 1.0, true},
		{"int and json", 1, json.Number("1.0"), true},
		{"exponent", json.Number("1e2"), 100, true},
		{"float as written", 0.1, json.Number("0.1"), true},
		{"beyond float64", json.Number("9007199254740993"), json.Number("9007199254740992"), false},
		{"beyond int64", json.Number("18446744073709551617"), json.Number("18446744073709551617.0"), true},
		{"huge exponent, same text", json.Number("1e9999"), json.Number("1e9999"), true},
		{"huge exponent, other text", json.Number("1e9999"), json.Number("1e9998"), false},
		{"number and text", 1, "1", false},
		{"text and number", "1", 1, false},
		{"bool and text", true, "true", false},
		{"bools", false, false, true},
		{"null", nil, nil, true},
		{"null and text", nil, "", false},
		{"null and object", map[string]any{}, nil, false},
		{"nested", object(1), object(json.Number("1")), true},
		{"nested, other", object(1), object(2), false},
		{"a key more", object(1), map[string]any{"a": 1}, false},
		{"another key", map[string]any{"a": nil}, map[string]any{"b": nil}, false},
		{"list order", []any{1, 2}, []any{2, 1}, false},
		{"list length", []any{1}, []any{1, 2}, false},
		{"list and object", []any{}, map[string]any{}, false},
		{"typed list", []string{"a"}, []any{"a"}, true},
		{"raw JSON", json.RawMessage(`{"a":1}`), map[string]any{"a": 1.0}, true},
		{"NaN is nothing", math.NaN(), math.NaN(), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := jsonvalue.Equal(c.a, c.b); got != c.want {
				t.Errorf("Equal(%v, %v) = %v", c.a, c.b, got)
			}
			if got := jsonvalue.Equal(c.b, c.a); got != c.want {
				t.Errorf("Equal(%v, %v) = %v", c.b, c.a, got)
			}
		})
	}
}

func TestNumberLimits(t *testing.T) {
	for _, c := range []struct {
		text, want string
	}{
		{"12", "12"},
		{"-0.50", "-1/2"},
		{"+1e-3", "1/1000"},
		{"1e400", "+"},
		{"1e401", ""},
		{"1e999999999999999999999", ""},
		{"", ""},
		{"1/2", ""},
		{"0x10", ""},
		{"1_000", ""},
		{"Inf", ""},
		{"1.2.3", ""},
		{"--1", ""},
	} {
		n, ok := jsonvalue.ParseNumber(c.text)
		switch {
		case ok != (c.want != ""):
			t.Errorf("%q: ok = %v", c.text, ok)
		case ok && c.want != "+" && n.RatString() != c.want:
			t.Errorf("%q = %s, want %s", c.text, n.RatString(), c.want)
		}
	}
}

func TestTextOfValues(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{"a <b>", "a <b>"},
		{json.Number("1.50"), "1.50"},
		{3, "3"},
		{true, "true"},
		{nil, "null"},
		{map[string]any{"b": "<", "a": []any{1.5}}, `{"a":[1.5],"b":"<"}`},
		{math.Inf(1), "+Inf"},
	} {
		if got := jsonvalue.Text(c.v); got != c.want {
			t.Errorf("Text(%v) = %s, want %s", c.v, got, c.want)
		}
	}
}
