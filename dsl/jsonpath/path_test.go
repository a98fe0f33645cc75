package jsonpath_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/jsonpath"
)

const orders = `{
  "orders": [
    {"id": 7, "who": "Ann", "lines": [{"sku": "a-1", "n": 2, "price": 1.5}, {"sku": "b-2", "n": 1, "price": 20}], "paid": true},
    {"id": 8, "who": "Bo", "lines": [], "paid": false, "note": null},
    {"id": 9007199254740993, "who": "Çem", "lines": [{"sku": "a-9", "n": 10, "price": 0.1}], "address": {"city": "Bern", "zip": "3000"}}
  ],
  "total": 3, "zero": 0, "a.b": "dotted", "it's": "quoted", "deep": {"b": {"x": 2}, "a": {"x": 1}}
}`

func value(t testing.TB, src string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(src))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSelect(t *testing.T) {
	cases := []struct{ name, path, want string }{
		{"the whole", `$.total`, `[3]`},
		{"a missing name", `$.nothing.more`, `[]`},
		{"a name between quotes", `$['a.b']`, `["dotted"]`},
		{"a quote within quotes", `$['it\'s']`, `["quoted"]`},
		{"the other quotes", `$["it's"]`, `["quoted"]`},
		{"an escape", `$["\u0061.b"]`, `["dotted"]`},
		{"an index", `$.orders[0].id`, `[7]`},
		{"from the end", `$.orders[-1].who`, `["Çem"]`},
		{"beyond the end", `$.orders[3]`, `[]`},
		{"an index into an object", `$[0]`, `[]`},
		{"a wildcard of a list", `$.orders[*].who`, `["Ann","Bo","Çem"]`},
		{"a wildcard of an object, by name", `$.deep.*.x`, `[1,2]`},
		{"several selectors, in the order written", `$.orders[2, 0]['who']`, `["Çem","Ann"]`},
		{"the same twice", `$.orders[0,0].id`, `[7,7]`},
		{"names and wildcards", `$.deep['b', *].x`, `[2,1,2]`},
		{"a slice", `$.orders[1:].id`, `[8,9007199254740993]`},
		{"a slice to the end", `$.orders[:-1].id`, `[7,8]`},
		{"every second", `$.orders[::2].id`, `[7,9007199254740993]`},
		{"backwards", `$.orders[::-1].id`, `[9007199254740993,8,7]`},
		{"a step of nothing", `$.orders[::0]`, `[]`},
		{"far bounds", `$.orders[-9007199254740991:9007199254740991].id`, `[7,8,9007199254740993]`},
		{"descendants, parents first", `$..x`, `[1,2]`},
		{"descendants by index", `$..lines[0].sku`, `["a-1","a-9"]`},
		{"all descendants of one", `$.deep..*`, `[{"x":1},{"x":2},1,2]`},
		{"blanks", "$ .orders [ 0 , 1 ] \n .id", `[7,8]`},
		{"existence", `$.orders[?@.note].id`, `[8]`},
		{"no existence", `$.orders[?!@.note].who`, `["Ann","Çem"]`},
		{"existence of any", `$.orders[?@.lines[*]].id`, `[7,9007199254740993]`},
		{"a comparison", `$.orders[?@.id > 7].who`, `["Bo","Çem"]`},
		{"big numbers are exact", `$.orders[?@.id == 9007199254740992]`, `[]`},
		{"integers with a fraction", `$.orders[?@.id == 7.0].who`, `["Ann"]`},
		{"a text", `$.orders[?@.who == 'Bo'].id`, `[8]`},
		{"texts in order", `$.orders[?@.who >= "B"].who`, `["Bo","Çem"]`},
		{"nothing is not null", `$.orders[?@.note == null].id`, `[8]`},
		{"nothing equals nothing", `$.orders[?@.none == @.nothing].id`, `[7,8,9007199254740993]`},
		{"nothing is not less", `$.orders[?@.none < 1]`, `[]`},
		{"a boolean", `$.orders[?@.paid == false].id`, `[8]`},
		{"objects are equal deeply", `$.orders[?@.address == $.orders[2].address].id`, `[9007199254740993]`},
		{"lists are equal deeply", `$.orders[?@.lines == $.orders[1]['lines']].id`, `[8]`},
		{"and binds closer than or", `$.orders[?@.id == 7 || @.paid == false && @.id == 9].id`, `[7]`},
		{"parentheses", `$.orders[?(@.id == 7 || @.id == 8) && !(@.paid == true)].id`, `[8]`},
		{"a filter in a filter", `$.orders[?@.lines[?@.n > 5]].id`, `[9007199254740993]`},
		{"the root in a filter", `$.orders[?@.id > $.total].id`, `[7,8,9007199254740993]`},
		{"a filter of an object, by name", `$.deep[?@.x >= 1].x`, `[1,2]`},
		{"length of a list", `$.orders[?length(@.lines) >= 2].id`, `[7]`},
		{"length in characters", `$.orders[?length(@.who) == 3].who`, `["Ann","Çem"]`},
		{"length of a number is nothing", `$.orders[?length(@.id) == @.none].id`, `[7,8,9007199254740993]`},
		{"count", `$.orders[?count(@.lines[*].sku) == 1].who`, `["Çem"]`},
		{"value", `$.orders[?value(@..city) == 'Bern'].id`, `[9007199254740993]`},
		{"match is of the whole", `$..[?match(@.sku, 'a-.')].sku`, `["a-1","a-9"]`},
		{"match of a part", `$..[?match(@.sku, 'a')]`, `[]`},
		{"search", `$.orders[?search(@.who, '[no]$')].who`, `["Ann","Bo"]`},
		{"a pattern from a value", `$.orders[?match(@.who, $.pattern)]`, `[]`},
		{"a broken pattern matches nothing", `$.orders[?search(@.who, '(')]`, `[]`},
		{"a pattern of a number matches nothing", `$.orders[?search(@.who, 3)]`, `[]`},
		{"a number is no text", `$.orders[?search(@.id, '7')]`, `[]`},
		{"minus zero", `$[?@ == -0]`, `[0]`},
		{"several filters", `$.orders[?@.id == 8, ?@.paid].id`, `[8,7,8]`},
	}
	v := value(t, orders)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := jsonpath.Compile(c.path)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				got, err := p.Select(v)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(value(t, c.want), any(got)); diff != "" {
					t.Fatal(diff)
				}
			}
			if p.String() != c.path {
				t.Errorf("String = %s", p)
			}
		})
	}
}

func TestSelectTakesGoNumbers(t *testing.T) {
	p, err := jsonpath.Compile(`$[?@ > 1 && @ < 4.5 && @ != 2]`)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := p.Select([]any{1, 2.0, int64(3), json.Number("4"), json.Number("4.5"), "3", nil})
	if diff := cmp.Diff([]any{int64(3), json.Number("4")}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompileProblems(t *testing.T) {
	cases := []struct{ name, path, want string }{
		{"empty", ``, "at byte 0: unexpected end of the path; expected $"},
		{"no dollar", `.items[0]`, "at byte 0: unexpected '.'; expected $ (write $.items[0])"},
		{"a bare name", `items`, "at byte 0: unexpected 'i'; expected $ (write $.items)"},
		{"a name with a dash", `$.first-name`, "at byte 7: unexpected '-'; expected a segment (write a name with characters other than letters, digits and _ as ['a-name'])"},
		{"a blank at the end", `$.a `, "at byte 3: unexpected ' '; expected a segment (remove the spaces at the end)"},
		{"a number after a dot", `$.0`, "at byte 2: unexpected '0'; expected a name or * (write an index as [0], and a name that starts with a digit as ['1a'])"},
		{"nothing after a dot", `$.`, "at byte 2: unexpected end of the path; expected a name or * (write a name with other characters as ['name'])"},
		{"nothing after two", `$.a..`, "at byte 5: unexpected end of the path; expected a name or * (write a name with other characters as ['name'])"},
		{"three dots", `$...a`, "at byte 3: unexpected '.'; expected a name or * (write a name with other characters as ['name'])"},
		{"a method", `$.items.length()`, "at byte 8: methods are not supported: .length() (use functions inside a filter: [?length(@.x) > 1])"},
		{"a name without quotes", `$[name]`, "at byte 2: unexpected 'n'; expected a selector (quote the name: ['name'])"},
		{"a script", `$[(@.length-1)]`, "at byte 2: unexpected '('; expected a selector (scripts are not supported; write [-1] for the last element)"},
		{"an open bracket", `$['a'`, "at byte 5: unexpected end of the path; expected ] or a comma"},
		{"an empty bracket", `$[]`, "at byte 2: unexpected ']'; expected a selector (write 'name', 0, *, 1:3 or ?@.x > 1)"},
		{"an open string", `$['a]`, "at byte 2: the string is not closed"},
		{"an unknown escape", `$['\x41']`, `at byte 3: unknown escape in the string (escapes are \b \f \n \r \t \/ \\ \u0000 and the quote itself)`},
		{"the other quote escaped", `$["\'"]`, `at byte 3: unknown escape in the string (escapes are \b \f \n \r \t \/ \\ \u0000 and the quote itself)`},
		{"half a pair", `$['\ud83d']`, "at byte 3: the string contains half of a surrogate pair"},
		{"a short escape", `$['\u12']`, `at byte 3: \u needs four hexadecimal digits`},
		{"a line end in a string", "$['a\nb']", `at byte 4: the string contains a control character (write it as an escape: \n, \t or \u0000)`},
		{"a leading zero", `$[01]`, "at byte 2: 01 is not a valid integer: leading zeros and -0 are not allowed"},
		{"minus zero", `$[-0]`, "at byte 2: -0 is not a valid integer: leading zeros and -0 are not allowed"},
		{"a lone minus", `$[-]`, "at byte 3: unexpected ']'; expected a digit"},
		{"a large index", `$[9007199254740992]`, "at byte 2: 9007199254740992 is too large"},
		{"a single equals sign", `$[?(@.a = 1)]`, "at byte 8: unexpected '='; expected ) (compare with ==)"},
		{"a pattern operator", `$[?(@.a =~ 'x')]`, "at byte 8: unexpected '='; expected ) (write match(@.x, 'pattern') or search(@.x, 'pattern'))"},
		{"a word for an operator", `$[?(@.a and @.b)]`, "at byte 8: unexpected 'a'; expected ) (write &&)"},
		{"a bare literal", `$[?true]`, "at byte 7: unexpected ']'; expected a comparison"},
		{"a bare word", `$[?a == 1]`, "at byte 3: unknown word a (write @.a for a member of the element, or 'a' for a string)"},
		{"many compared", `$[?@.* == 1]`, "at byte 3: a query that can select several values cannot be compared (use value(...), count(...) or a filter)"},
		{"not before a comparison", `$[?!@.a == 1]`, "at byte 4: ! cannot be applied to a comparison (put the comparison in parentheses: !(...))"},
		{"an unknown function", `$[?len(@) > 1]`, "at byte 3: unknown function len (use length, count, match, search or value)"},
		{"a value alone", `$[?length(@)]`, "at byte 3: length() returns a value; compare it (length(...) > 1)"},
		{"truth compared", `$[?match(@.a, 'x') == true]`, "at byte 3: match() returns a boolean and cannot be compared (write it without a comparison)"},
		{"an argument missing", `$[?match(@.a)]`, "at byte 3: match() takes two arguments"},
		{"an argument too many", `$[?length(@, @) > 1]`, "at byte 3: length() takes one argument"},
		{"a value for a query", `$[?count('a') > 1]`, "at byte 9: count() takes a query such as @.items[*]"},
		{"a query for a value", `$[?length(@.*) > 1]`, "at byte 10: a query that can select several values cannot be compared (use value(...), count(...) or a filter)"},
		{"a bad number", `$[?@ > 01]`, "at byte 7: the number is not a valid JSON number"},
		{"no number", `$[?@ > 1.]`, "at byte 7: the number is not a valid JSON number"},
		{"bytes that are no text", "$['\xff']", "at byte 0: the path is not valid UTF-8"},
		{"too deep", `$` + strings.Repeat("[?@", 40) + strings.Repeat("]", 40), "at byte 50: the path is nested more than 32 levels deep"},
		{"deep parentheses", `$[?` + strings.Repeat("(", 4000), "at byte 34: the path is nested more than 32 levels deep"},
		{"too long", `$.` + strings.Repeat("a", 5000), "at byte 0: the path has 5002 bytes; the maximum is 4096"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := jsonpath.Compile(c.path)
			var p *jsonpath.Problem
			if !errors.As(err, &p) || p.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestSelectionIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	list := make([]any, 2000)
	for i := range list {
		list[i] = strings.Repeat("x", 1000) + fmt.Sprint(i)
	}
	var deep any = 1
	for range 5000 {
		deep = []any{deep}
	}
	v := map[string]any{"list": list, "copy": append([]any{}, list...), "deep": deep, "wide": []any{list, list, list}}
	for _, src := range []string{
		`$..*..*..*..*`, `$.list[?$.list == $.copy]`, `$.list[?$.list[?$.list[?@ == 1]]]`, `$.list[?search($.list[0], @)]`,
		`$.list[?count($..*) > 0]`, `$..[?@..[?@..*]]`, `$` + strings.Repeat(`[*,*,*]`, 500), `$` + strings.Repeat(`..[*]`, 500),
		`$.list[?match(@, 'x*x*x*x*x*y')]`, `$.list[` + strings.Repeat("0:2000,", 500) + `0]`,
	} {
		p, err := jsonpath.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = p.Select(v)
		if d := time.Since(start); d > 30*time.Second { // half a second on an idle machine
			t.Errorf("%.40s took %v", src, d)
		}
		if err != nil && !strings.Contains(err.Error(), "more than 1,000,000 values") {
			t.Errorf("%.40s: %v", src, err)
		}
	}
}

func TestPathIsSafeForConcurrentUse(t *testing.T) {
	p, err := jsonpath.Compile(`$.orders[?match(@.who, 'A.*')].lines[*].sku`)
	if err != nil {
		t.Fatal(err)
	}
	v := value(t, orders)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if got, err := p.Select(v); len(got) != 2 || err != nil {
					t.Error(got, err)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzPath checks that Compile and Select do not panic, that offsets are inside
// the source, and that selections are deterministic.
func FuzzPath(f *testing.F) {
	for _, src := range []string{`$.orders[?@.id > 7 && !(@.paid == true)].who`, `$..['a',"b",0,-1,1:2:3,*]`, `$[?match(@.sku, 'a.[^b]') || length(@) == 1e3]`, `$[?count(@..*) < value($.total)]`, "$ \n['\\u00e9']"} {
		f.Add(src)
	}
	v := value(f, orders)
	f.Fuzz(func(t *testing.T, src string) {
		p, err := jsonpath.Compile(src)
		if err != nil {
			var problem *jsonpath.Problem
			if !errors.As(err, &problem) || problem.Offset < 0 || problem.Offset > len(src) {
				t.Fatalf("%q: %v", src, err)
			}
			return
		}
		a, errA := p.Select(v)
		b, errB := p.Select(v)
		if (errA == nil) != (errB == nil) || cmp.Diff(a, b) != "" {
			t.Fatalf("%q: %v, %v and then %v, %v", src, a, errA, b, errB)
		}
	})
}

func BenchmarkSelect(b *testing.B) {
	p, _ := jsonpath.Compile(`$.orders[?@.id > 7].lines[*].sku`)
	v := value(b, orders)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Select(v); err != nil {
			b.Fatal(err)
		}
	}
}
