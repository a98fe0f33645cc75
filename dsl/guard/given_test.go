package guard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/engine/exprenv"
)

// called evaluates an expression before a call of pay with arguments in JSON.
func called(t *testing.T, src, args string) (bool, error) {
	t.Helper()
	env, _ := guard.Place("before_tool", nil)
	g, p := guard.Compile(src, env)
	if p != nil {
		t.Fatalf("%s: %v", src, p)
	}
	return g.Eval(map[string]any{
		"tool": exprenv.Tool{Name: "pay", Effect: "write", Args: decodedArgs(t, args), Attempts: 1}, "parameters": map[string]any{"limit": 50, "blocked": []any{"a", "b"}},
	})
}

// decodedArgs returns arguments in the form in which the engine passes them.
func decodedArgs(t *testing.T, args string) (m map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMissingArgumentsLeaveItUndecided: an argument that is missing, null, or of the
// wrong kind for an operation makes the expression undecided, whatever its form.
// A default or a test for nil decides it.
func TestMissingArgumentsLeaveItUndecided(t *testing.T) {
	const args = `{"amount": 80, "order": "17", "note": null, "tags": ["x"], "lines": [{"n": 1}, {}], "who": {"name": "Ann"}, "mixed": [1, "a"], "none": []}`
	undecided := []string{
		// misspelled, or missing
		`tool.args.amonut == 80`, `80 == tool.args.amonut`, `tool.args.amonut != 80`, `not (tool.args.amonut == 80)`, `!(tool.args.amonut != 80)`,
		`tool.args.amonut in [80, 90]`, `tool.args.amonut not in [80, 90]`, `tool.args.amonut in parameters.blocked`, `tool.args.amonut in []`,
		`tool.args.odrer matches "1"`, `tool.args.odrer contains "1"`, `tool.args.odrer startsWith "1"`, `not (tool.args.odrer endsWith "1")`, `"17" contains tool.args.odrer`,
		`"17" matches tool.args.odrer`, `tool.args.amonut > 50`, `tool.args.amonut <= 50`, `hasPrefix(tool.args.odrer, "1")`, `tool.args.odrer`, `not tool.args.flag`,
		`tool.args.amount > 50 && tool.args.odrer == "17"`, `tool.args.odrer == "17" && tool.args.amount > 50`, `tool.args.odrer == "17" || tool.args.amount > 50`,
		`tool.args.amount > 90 || tool.args.odrer == "17"`, `tool.args.amonut == 80 ? true : false`, `true ? tool.args.amonut == 80 : false`,
		`tool.args?.amonut == 80`, `tool.args.customer?.name == "x"`, `tool.args.who?.nmae == "x"`, `tool.args.customer.name == "x"`, `tool["args"]["amonut"] == 80`,
		`tool.args["amo" + "nut"] == 80`, `let a = tool.args; a.amonut == 80`, `let x = tool.args.amonut; x == 80`, `[tool.args][0].amonut == 80`, `{"a": tool.args}.a.amonut == 80`,
		`any([tool.args], .amonut == 80)`, `none([tool.args], .amonut == 80)`, `filter([tool.args], .amonut == 80) == []`, `len(filter([80], # == tool.args.amonut)) > 0`,
		`count([tool.args.amonut], # == 80) > 0`, `(true ? tool.args : {}).amonut == 80`, `first([tool.args]).amonut == 80`, `find([tool.args], true).amonut == 80`, `map([tool.args], .amonut)[0] == 80`,
		`tool.args.amonut == tool.args.amuont`, `tool.args.amonut == parameters.limit`, `max(tool.args.amonut, 1) > 50`, `abs(tool.args.amonut) > 50`, `len(tool.args.tgas) > 0`,
		`any(tool.args.tgas, # == "x")`, `all(tool.args.tgas, # == "x")`, `"x" in tool.args.tgas`, `tool.args.amonut + 1 > 50`, `-tool.args.amonut < 0`, `string(tool.args.amonut) == "80"`, `int(tool.args.amonut) > 1`,
		`first(tool.args.none) == 1`, `max(tool.args.none) == 1`, `find(tool.args.tags, # == "y") == "y"`, `tool.args.tgas[0] == "x"`, `tool.args.tgas[0:1] == ["x"]`, `80 in 1..tool.args.amonut`, `lower(tool.args.odrer) == "x"`,
		// null
		`tool.args.note == "x"`, `tool.args.note in ["x"]`, `tool.args.note contains "x"`,
		// of another kind
		`tool.args.amount == "80"`, `tool.args.amount != "80"`, `tool.args.amount in ["80"]`, `tool.args.order == 17`, `tool.args.order > 5`, `tool.args.amount matches "8"`, `tool.args.amount contains "8"`,
		`"8" in tool.args.order`, `tool.args.tags == "x"`, `tool.args.tags contains "x"`, `1 in tool.args.tags`, `"b" in tool.args.mixed`, `tool.args.who == "Ann"`, `tool.args.tags == [1]`, `tool.args.who == {"name": 1}`,
		`any(tool.args.who, true)`, `all(tool.args.order, true)`, `len(tool.args.amount) > 1`, `tool.args.amount && true`, `true and tool.args.order`, `tool.args.order ? true : false`, `any(tool.args.lines, .n > 5)`, `sum(tool.args.tags) > 1`,
		`tool.args.who in ["Ann"]`, `tool.args.tags[5] == "x"`, `tool.args.amount.value == 80`, `tool.args.order.value == 80`, `tool.args.amount % 0 == 1`, `tool.args.amount / 0 > 1`,
	}
	for _, src := range undecided {
		if got, err := called(t, src, args); err == nil {
			t.Errorf("%s is %v", src, got)
		}
	}
	decided := map[string]bool{
		`"amount" in tool.args`: true, `"amonut" in tool.args`: false, `"note" in tool.args`: true, `not ("amonut" in tool.args)`: true,
		`(tool.args.amonut ?? 0) > 50`: false, `(tool.args.amount ?? 0) > 50`: true, `(tool.args.note ?? "x") == "x"`: true, `tool.args.customer?.name == nil`: true,
		`tool.args.amonut == nil`: true, `tool.args.note != nil`: false, `nil == tool.args.amount`: false, `tool.args.amonut != nil && tool.args.amonut > 50`: false,
		`"amonut" in tool.args && tool.args.amonut > 50`: false, `"amount" in tool.args && tool.args.amount > 50`: true, `tool.args.amount < 50 && tool.args.amonut == 80`: false,
		`tool.args.amount > 50 || tool.args.amonut == 80`: true, `tool.name == "x" && tool.args.amonut == 80`: false, `false ? tool.args.amonut == 80 : true`: true, `let a = tool.args.amonut ?? 3; a == 3`: true,
		`(tool.args.customer?.name ?? "nobody") == "nobody"`: true, `tool.args.order in ["17", "18"]`: true, `tool.args.order in parameters.blocked`: false, `"x" in tool.args.tags`: true, `1 in tool.args.none`: false,
		`tool.args.amount == 80.0`: true, `tool.args.who.name == "Ann"`: true, `tool.args.who == {"name": "Ann"}`: true, `tool.args.tags == ["x"]`: true, `tool.args.tags == ["x", 1]`: false, `tool.args.amount in [90, "80"]`: false,
		`all(tool.args.none, # == 1)`: true, `any(tool.args.lines, (.n ?? 0) > 5)`: false, `int(tool.args.order) == 17`: true, `len(tool.args.tags) == 1`: true, `tool.args.none == []`: true, `1 in tool.args.mixed`: true,
	}
	for src, want := range decided {
		if got, err := called(t, src, args); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", src, got, err, want)
		}
	}
}

// TestNumbersCompareExactly: all digits of a JSON number count.
func TestNumbersCompareExactly(t *testing.T) {
	for _, tt := range []struct {
		src, amount string
		want        bool
	}{
		{`tool.args.amount > 9007199254740992`, `9007199254740993.0`, true},
		{`tool.args.amount > 9007199254740992`, `9007199254740992.0`, false},
		{`tool.args.amount == 9007199254740992`, `9007199254740993`, false},
		{`tool.args.amount > 50`, `50.0000000000000000001`, true},
		{`tool.args.amount <= 50`, `50.0000000000000000001`, false},
		{`tool.args.amount == 50.1`, `50.10`, true},
		{`tool.args.amount in [50.1]`, `5.01e1`, true},
		{`tool.args.amount > 9223372036854775807`, `9223372036854775808`, true},
		{`tool.args.amount < 0`, `-1e-300`, true},
		{`tool.args.amount == 0`, `-0.0`, true},
		{`tool.args.amount * 100 > 5000`, `92233720368547758080`, true},
		{`tool.args.amount + 1 > 9223372036854775807`, `9223372036854775807`, true},
		{`-tool.args.amount < 0`, `9223372036854775808`, true},
		{`abs(tool.args.amount) > 5`, `-9223372036854775808`, true},
		{`int(tool.args.amount) > 50`, `1e300`, true},
		{`float(tool.args.amount) > 9007199254740992`, `9007199254740993`, true},
		{`round(tool.args.amount) == 9007199254740993`, `9007199254740993.0`, true},
		{`tool.args.amount / 3 * 3 == 1`, `1`, true},
		{`tool.args.amount % 2 == 1`, `9007199254740993.0`, true},
		{`sum([tool.args.amount, 0.2]) == 0.3`, `0.1`, true},
		{`max(tool.args.amount, 9007199254740992) == 9007199254740992`, `9007199254740993`, false},
		{`mean(tool.args.amount, 1) == 0.55`, `0.1`, true},
		{`tool.args.amount ** 2 - 1 == (tool.args.amount - 1) * (tool.args.amount + 1)`, `9007199254740993`, true},
	} {
		if got, err := called(t, tt.src, `{"amount": `+tt.amount+`}`); err != nil || got != tt.want {
			t.Errorf("%s for %s is %v, %v", tt.src, tt.amount, got, err)
		}
	}
}
