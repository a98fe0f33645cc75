package table_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/tool/table"
)

func decode(t *testing.T, text, format string) any {
	t.Helper()
	v, err := table.Decode([]byte(text), format)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDecode(t *testing.T) {
	tests := []struct{ name, format, text, want string }{
		{"JSON", table.JSON, ` {"a": 1.10} `, `{"a":1.10}`},
		{"byte order mark", table.JSON, "\xEF\xBB\xBF[1]", `[1]`},
		{"lines", table.JSONL, "{\"a\":1}\n\n[2]\r\n\"x\"", `[{"a":1},[2],"x"]`},
		{"no lines", table.JSONL, "", `[]`},
		{"table", table.CSV, "name,amount\nA,1.50\n\"B, C\",2\n", `[{"amount":1.50,"name":"A"},{"amount":2,"name":"B, C"}]`},
		{"empty numbers are null", table.CSV, "a,b\n1,\n,x\n", `[{"a":1,"b":""},{"a":null,"b":"x"}]`},
		{"codes stay text", table.CSV, "zip,long,exp\n01234,12345678901234567890123,1e5\n", `[{"exp":"1e5","long":"12345678901234567890123","zip":"01234"}]`},
		{"one word makes a column text", table.CSV, "a\n1\nx\n", `[{"a":"1"},{"a":"x"}]`},
		{"only names", table.CSV, "a,b\n", `[]`},
		{"tabs", table.TSV, "a\tb\n1\tx y\n", `[{"a":1,"b":"x y"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(decode(t, tt.text, tt.format))
			if err != nil || string(got) != tt.want {
				t.Errorf("%s, want %s (%v)", got, tt.want, err)
			}
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct{ name, format, text, want string }{
		{"empty", table.JSON, "", "the document is empty"},
		{"syntax", table.JSON, "{\n\"a\": x}", "(line 2)"},
		{"many values", table.JSON, "{}\n{}", `"format": "jsonl"`},
		{"line", table.JSONL, "{}\n{", "line 2 is not a JSON value"},
		{"two in a line", table.JSONL, "{} {}", "more than one value"},
		{"ragged", table.CSV, "a,b\n1\n", "wrong number of fields"},
		{"twice", table.CSV, "a, a\n1,2\n", `two columns are named "a"`},
		{"no head", table.CSV, "", "must start with a row of column names"},
		{"deep", table.JSON, strings.Repeat("[", 1e5), "invalid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := table.Decode([]byte(tt.text), tt.format); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestFormatFollowsTheName(t *testing.T) {
	for name, want := range map[string]string{
		"a.json": "json", "a.JSONL": "jsonl", "a.ndjson": "jsonl", "x/a.csv": "csv", "a.tsv": "tsv", "a": "json", "a.txt": "json",
	} {
		if got := table.Format(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

const sales = `region,year,amount,by
EU,2025,0.1,Ann
US,2025,10,Bob
EU,2025,0.2,Ann
EU,2026,,Cid
US,2024,-3.005,Bob
`

func TestAggregate(t *testing.T) {
	tests := []struct {
		name string
		s    table.Summary
		want string
		left int
	}{
		{"exact sum", table.Summary{Op: "sum", Field: "amount"}, `[{"count":4,"sum":7.295}]`, 1},
		{"by group", table.Summary{Op: "sum", Field: "amount", GroupBy: []string{"region"}}, `[{"count":2,"region":"EU","sum":0.3},{"count":2,"region":"US","sum":6.995}]`, 1},
		{"by two, numbers by size", table.Summary{Op: "count", GroupBy: []string{"year", "region"}}, `[{"count":1,"region":"US","year":2024},{"count":2,"region":"EU","year":2025},{"count":1,"region":"US","year":2025},{"count":1,"region":"EU","year":2026}]`, 0},
		{"average", table.Summary{Op: "avg", Field: "amount", GroupBy: []string{"region"}}, `[{"avg":0.15,"count":2,"region":"EU"},{"avg":3.4975,"count":2,"region":"US"}]`, 1},
		{"least", table.Summary{Op: "min", Field: "amount"}, `[{"count":4,"min":-3.005}]`, 1},
		{"greatest text", table.Summary{Op: "max", Field: "by"}, `[{"count":5,"max":"Cid"}]`, 0},
		{"missing field", table.Summary{Op: "sum", Field: "nope"}, `[{"count":0,"sum":0}]`, 5},
		{"no average of nothing", table.Summary{Op: "avg", Field: "nope"}, `[{"avg":null,"count":0}]`, 5},
	}
	rows := decode(t, sales, table.CSV).([]any)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, left, err := table.Aggregate(rows, tt.s)
			got, _ := json.Marshal(out)
			if err != nil || string(got) != tt.want || left != tt.left {
				t.Errorf("%s, %d left out, want %s, %d (%v)", got, left, tt.want, tt.left, err)
			}
		})
	}
}

func TestAggregateOfValues(t *testing.T) {
	tests := []struct{ name, rows, op, field, want string }{
		{"the values themselves", `[1, 2.5, null]`, "sum", "", `{"count":2,"sum":3.5}`},
		{"nested field", `[{"a":{"b":1}},{"a":{"b":2}}]`, "sum", "a.b", `{"count":2,"sum":3}`},
		{"a dotted name beats a path", `[{"a.b":5,"a":{"b":1}}]`, "max", "a.b", `{"count":1,"max":5}`},
		{"numbers as text", `["1.5", 2, "10"]`, "max", "", `{"count":3,"max":10}`},
		{"exponents", `[1e3, 25e-1]`, "sum", "", `{"count":2,"sum":1002.5}`},
		{"large", `[9007199254740993, 1]`, "sum", "", `{"count":2,"sum":9007199254740994}`},
		{"zeros that say nothing", `[1.50, 0.50]`, "sum", "", `{"count":2,"sum":2}`},
		{"a third", `[1, 0, 0]`, "avg", "", `{"avg":0.3333333333,"count":3}`},
		{"two thirds below zero", `[-2, 0, 0]`, "avg", "", `{"avg":-0.6666666667,"count":3}`},
		{"minus nothing", `[-0, 0.00]`, "sum", "", `{"count":2,"sum":0}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, _, err := table.Aggregate(decode(t, tt.rows, table.JSON).([]any), table.Summary{Op: tt.op, Field: tt.field})
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := json.Marshal(out[0]); string(got) != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestAggregateErrors(t *testing.T) {
	tests := []struct{ name, rows, op, want string }{
		{"a word", `[1, "n/a"]`, "sum", `row 2: "n/a" is not a number`},
		{"an object", `[{}]`, "avg", "is not a number"},
		{"mixed", `[1, "x"]`, "max", "numbers and strings"},
		{"endless exponent", `[1e999999999]`, "sum", "too large or too small"},
		{"unknown op", `[1]`, "median", "use count, sum, min, max, avg"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := table.Aggregate(decode(t, tt.rows, table.JSON).([]any), table.Summary{Op: tt.op})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestSumsAndOrderAgreeWithFractions compares with math/big on random numbers.
func TestSumsAndOrderAgreeWithFractions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		sum, rows := new(big.Rat), []any{}
		for range 20 {
			s := fmt.Sprintf("%d.%0*d", rng.IntN(2000)-1000, 1+rng.IntN(5), rng.IntN(10))
			r, _ := new(big.Rat).SetString(s)
			sum.Add(sum, r)
			rows = append(rows, map[string]any{"v": json.Number(s)})
		}
		out, _, err := table.Aggregate(rows, table.Summary{Op: "sum", Field: "v"})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := new(big.Rat).SetString(fmt.Sprint(out[0]["sum"])); !ok || got.Cmp(sum) != 0 {
			t.Fatalf("sum of %v is %v, want %s", rows, out[0]["sum"], sum.FloatString(6))
		}
		groups, _, err := table.Aggregate(rows, table.Summary{Op: "count", GroupBy: []string{"v"}})
		if err != nil {
			t.Fatal(err)
		}
		var before *big.Rat
		for _, g := range groups {
			v, _ := new(big.Rat).SetString(fmt.Sprint(g["v"]))
			if before != nil && before.Cmp(v) >= 0 {
				t.Fatalf("groups are not in order: %v", cmp.Diff(nil, groups))
			}
			before = v
		}
	}
}

func FuzzAggregate(f *testing.F) {
	f.Add(`[1,2.5,"3"]`, "sum")
	f.Add(`[{"a":1e400},{"a":-1E-400}]`, "max")
	f.Add("[null,true]", "avg")
	f.Fuzz(func(t *testing.T, rows, op string) {
		v, err := table.Decode([]byte(rows), table.JSON)
		list, ok := v.([]any)
		if err != nil || !ok {
			return
		}
		for _, by := range [][]string{nil, {"a"}} {
			out, _, err := table.Aggregate(list, table.Summary{Op: op, GroupBy: by})
			if err != nil {
				continue
			}
			if _, err := json.Marshal(out); err != nil {
				t.Errorf("%s of %s: %v", op, rows, err)
			}
		}
	})
}
