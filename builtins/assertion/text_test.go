package assertion_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

var none trial.CheckSettings

func TestEquals(t *testing.T) {
	for _, c := range []struct {
		name, value, path string
		ignoreCase        bool
		subject           *trial.Subject
		want              expect
	}{
		{name: "text", value: `"Paris"`, subject: withResponse(" Paris\n"), want: pass},
		{name: "other text", value: `"Paris"`, subject: withResponse("Rome"), want: expect{message: "not as expected"}},
		{name: "case matters", value: `"paris"`, subject: withResponse("Paris")},
		{name: "case does not", value: `"PARIS"`, ignoreCase: true, subject: withResponse("Paris"), want: pass},
		{name: "of the row", value: `"${case.answer}"`, subject: withResponse("Paris"), want: pass},
		{name: "within a text", value: `"It is ${case.answer}."`, subject: withResponse("It is Paris."), want: pass},
		{name: "a number of the row", value: `"${case.n}"`, subject: withResponse("42.0"), want: pass},
		{name: "a path into the row", value: `"${case.user.name}"`, subject: withResponse("Ana"), want: pass},
		{name: "a list of the row", value: `"${case.list}"`, subject: withResponse(`["a","b"]`), want: pass},
		{name: "JSON by value", value: `{"a":1,"b":[true,null]}`, subject: withResponse(`{ "b": [true, null], "a": 1.0 }`), want: pass},
		{name: "JSON in a fence", value: `{"a":1}`, subject: withResponse("```json\n{\"a\": 1}\n```"), want: pass},
		{name: "JSON written as text", value: `"{\"a\": 1}"`, subject: withResponse(`{"a":1}`), want: pass},
		{name: "JSON in prose is not it", value: `{"a":1}`, subject: withResponse(`Here: {"a":1}`)},
		{name: "other JSON", value: `{"a":1}`, subject: withResponse(`{"a":2}`)},
		{name: "a text is no number of JSON", value: `{"a":"1"}`, subject: withResponse(`{"a":1}`)},
		{name: "true", value: `true`, subject: withResponse("true"), want: pass},
		{name: "null", value: `null`, subject: withResponse("null"), want: pass},
		{name: "digits that no float holds", value: `9007199254740993`, subject: withResponse("9007199254740992")},
		{name: "the empty answer", value: `""`, subject: withResponse(" \n"), want: pass},
		{name: "no such column", value: `"${case.anwser}"`, subject: withResponse(""), want: expect{err: "case.anwser does not exist"}},
		{name: "no such column in an object", value: `{"a":["${case.usr.name}"]}`, subject: withResponse(""), want: expect{err: "case.usr.name does not exist"}},
		{name: "a default", value: `"${case.anwser:-Paris}"`, subject: withResponse("Paris"), want: pass},
		{name: "a part of the output", value: `3`, path: "$.total", subject: withOutput(`{"total":3}`), want: pass},
		{name: "a part of a response", value: `3`, path: "$.total", subject: withResponse(`{"total":3}`), want: pass},
		{name: "a part that is not there", value: `3`, path: "$.sum", subject: withOutput(`{"total":3}`), want: expect{message: "$.sum selects 0 values of the output, not one"}},
		{name: "several parts", value: `3`, path: "$[*]", subject: withOutput(`[3,3]`), want: expect{message: "$[*] selects 2 values of the output, not one"}},
		{name: "a part of prose", value: `3`, path: "$.total", subject: withResponse("three"), want: expect{message: "the answer is not JSON"}},
		{name: "too much of a path", value: `3`, path: "$..*..*..*", subject: withOutput(deep()), want: expect{err: "visits more than"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, newCheck(t, assertion.Equals, none, func(k *assertion.EqualsConfig) {
				k.Value, k.IgnoreCase = anyValue(t, c.value), c.ignoreCase
				if c.path != "" {
					k.Path = path(t, c.path)
				}
			}), c.subject, c.want)
		})
	}
	wantInvalid(t, assertion.Equals, "requires value", func(*assertion.EqualsConfig) {})
}

// deep returns deeply nested JSON.
func deep() string { return strings.Repeat("[", 500) + strings.Repeat("]", 500) }

func TestMultiLineTextsHaveADiff(t *testing.T) {
	c := newCheck(t, assertion.Equals, none, func(k *assertion.EqualsConfig) { k.Value = anyValue(t, `"one\ntwo\nthree"`) })
	m := check(t, c, withResponse("one\nTWO\nthree\n"), expect{})
	for _, line := range []string{"\n-two\n", "\n+TWO\n", "\n three\n"} {
		if !strings.Contains(m.Diff, line) {
			t.Errorf("no %q in\n%s", line, m.Diff)
		}
	}
	if strings.Contains(m.Diff, "No newline") {
		t.Error(m.Diff)
	}
	long := newCheck(t, assertion.Equals, none, func(k *assertion.EqualsConfig) { k.Value = anyValue(t, `"one\ntwo"`) })
	m = check(t, long, withResponse(strings.Repeat("a line of a very long answer\n", 40_000)), expect{})
	if !strings.Contains(m.Actual, "bytes left out") || m.Diff != "" {
		t.Errorf("%d bytes of answer, %d of diff", len(m.Actual), len(m.Diff))
	}
}

func TestContains(t *testing.T) {
	for _, c := range []struct {
		name       string
		value      string
		any, all   []string
		ignoreCase bool
		response   string
		want       expect
	}{
		{name: "value", value: "Par", response: "It is Paris.", want: expect{pass: true, message: `contains "Par"`}},
		{name: "not there", value: "Rome", response: "It is Paris.", want: expect{message: `does not contain "Rome"`}},
		{name: "case matters", value: "paris", response: "It is Paris."},
		{name: "case does not", value: "PARIS", ignoreCase: true, response: "It is Paris.", want: pass},
		{name: "case of other letters", value: "GRÖSSE Ä", ignoreCase: true, response: "grösse ä", want: pass},
		{name: "any", any: []string{"Rome", "${case.answer}"}, response: "Paris", want: pass},
		{name: "none of any", any: []string{"Rome", "Bern"}, response: "Paris", want: expect{message: `none of "Rome", "Bern"`}},
		{name: "all", all: []string{"Pa", "ris"}, response: "Paris", want: pass},
		{name: "some of all", all: []string{"Pa", "Rome", "Bern", "ris"}, response: "Paris", want: expect{score: 0.5, message: `"Rome", "Bern"`}},
		{name: "many lacking", all: []string{"1", "2", "3", "4", "5", "6", "7"}, response: "Paris", want: expect{message: "and 2 more"}},
		{name: "an empty column", value: "${case.blank}", response: "Paris", want: expect{err: "every answer contains an empty text"}},
		{name: "a null column", value: "${case.null}", response: "Paris", want: expect{err: "every answer contains an empty text"}},
		{name: "no such column", value: "a ${case.x}", response: "Paris", want: expect{err: "case.x does not exist"}},
		{name: "no such parameter", any: []string{"${parameters.x}"}, response: "Paris", want: expect{err: "parameters.x does not exist"}},
		{name: "a parameter", value: "${parameters.limit}", response: "3 of them", want: pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, newCheck(t, assertion.Contains, none, func(k *assertion.ContainsConfig) {
				if k.IgnoreCase = c.ignoreCase; c.value != "" {
					k.Value = template(t, c.value)
				}
				k.Any, k.All = templates(t, c.any...), templates(t, c.all...)
			}), withResponse(c.response), c.want)
		})
	}
	for name, edit := range map[string]func(*assertion.ContainsConfig){
		"nothing": func(*assertion.ContainsConfig) {},
		"two":     func(k *assertion.ContainsConfig) { k.Value, k.Any = template(t, "a"), templates(t, "b") },
		"lists":   func(k *assertion.ContainsConfig) { k.All, k.Any = templates(t, "a"), templates(t, "b") },
	} {
		t.Run(name, func(t *testing.T) { wantInvalid(t, assertion.Contains, "one of value, any and all", edit) })
	}
}

func TestStartsAndEnds(t *testing.T) {
	starts := newCheck(t, assertion.StartsWith, none, func(k *assertion.StartsWithConfig) { k.Value, k.IgnoreCase = template(t, "yes, "), true })
	check(t, starts, withResponse("\n YES, it is"), expect{pass: true, message: "begins with"})
	check(t, starts, withResponse("It is, yes, "), expect{message: `does not begin with "yes,"`})
	ends := newCheck(t, assertion.EndsWith, none, func(k *assertion.EndsWithConfig) { k.Value = template(t, "${case.answer}.") })
	check(t, ends, withResponse("It is Paris. \n"), expect{pass: true, message: "ends with"})
	check(t, ends, withResponse("Paris. It is."), expect{message: "does not end with"})
	blank := newCheck(t, assertion.EndsWith, none, func(k *assertion.EndsWithConfig) { k.Value = template(t, "${case.blank}") })
	check(t, blank, withResponse("x"), expect{err: "empty"})
	wantInvalid(t, assertion.StartsWith, "every answer would begin", func(*assertion.StartsWithConfig) {})
}

func TestRegex(t *testing.T) {
	for _, c := range []struct {
		name, pattern string
		ignoreCase    bool
		response      string
		want          expect
	}{
		{name: "somewhere", pattern: `\d{4}-\d\d`, response: "on 2026-11-21", want: expect{pass: true, message: `with "2026-11"`}},
		{name: "nowhere", pattern: `^\d+$`, response: "on 2026", want: expect{message: "does not match"}},
		{name: "lines", pattern: `(?m)^b$`, response: "a\nb\nc", want: pass},
		{name: "case", pattern: "PARIS", ignoreCase: true, response: "paris", want: pass},
		{name: "of the row", pattern: "^${case.answer}$", response: "Paris", want: pass},
		{name: "a broken one of the row", pattern: "${case.answer}(", response: "Paris", want: expect{err: "missing closing )"}},
		{name: "dollars and braces are its own", pattern: `^a{2}$`, response: "aa", want: pass},
		{name: "quadratic elsewhere", pattern: `(a+)+$`, response: strings.Repeat("a", 1<<17) + "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, newCheck(t, assertion.Regex, none, func(k *assertion.RegexConfig) {
				k.Pattern, k.IgnoreCase = template(t, c.pattern), c.ignoreCase
			}), withResponse(c.response), c.want)
		})
	}
	for _, c := range []struct{ name, pattern, want string }{
		{"look-around", "(?=a)", "without look-around"},
		{"empty", "", "is empty"},
		{"long", strings.Repeat("a", 10_001), "the limit is 10000"},
		{"huge", "((a{1000}){1000})", "invalid repeat count"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantInvalid(t, assertion.Regex, c.want, func(k *assertion.RegexConfig) { k.Pattern = template(t, c.pattern) })
		})
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		name, value, find, response string
		tolerance, relative         float64
		want                        expect
	}{
		{name: "alone", value: "42", response: "42", want: pass},
		{name: "the last", value: "42", response: "6 * 7 = 42.", want: expect{pass: true, message: "the answer is 42"}},
		{name: "not the last", value: "6", response: "6 * 7 = 42.", want: expect{message: "the answer is 42, not 6"}},
		{name: "the first", value: "6", find: "first", response: "6 * 7 = 42.", want: pass},
		{name: "any", value: "7", find: "any", response: "6 * 7 = 42.", want: pass},
		{name: "none of any", value: "8", find: "any", response: "6 * 7 = 42."},
		{name: "the only one", value: "42", find: "only", response: "It is 42!", want: pass},
		{name: "not the only one", value: "42", find: "only", response: "6 * 7 = 42", want: expect{message: "the answer contains 3 numbers"}},
		{name: "none", value: "42", response: "forty-two", want: expect{message: "the answer contains no number"}},
		{name: "of the row", value: "${case.n}", response: "so 42.00", want: pass},
		{name: "thousands", value: "1234567.5", response: "about $1,234,567.50 in all", want: pass},
		{name: "expected with thousands", value: "1,234", response: "1234", want: pass},
		{name: "a list is no thousands", value: "3", response: "1, 2, 3", want: pass},
		{name: "short groups are a list", value: "23", response: "1,23", want: pass},
		{name: "percent", value: "12.5", response: "12.5%", want: pass},
		{name: "unit", value: "5", response: "weighs 5kg", want: pass},
		{name: "exponent", value: "1500", response: "1.5e3", want: pass},
		{name: "negative", value: "-3", response: "it is -3 degrees", want: pass},
		{name: "typographic minus", value: "-3", response: "it is −3", want: pass},
		{name: "after an equals sign", value: "-3", response: "x=-3", want: pass},
		{name: "a hyphen is no minus", value: "11", response: "2026-11", want: pass},
		{name: "a model's name", value: "7", find: "only", response: "gpt-4 and v2 say 7", want: pass},
		{name: "an address", value: "10.0", find: "only", response: "10.0.0.1", want: pass},
		{name: "point first", value: "0.5", response: ".5", want: pass},
		{name: "exact by default", value: "0.3", response: "0.30000000000000004"},
		{name: "tolerance", value: "0.3", tolerance: 1e-9, response: "0.30000000000000004", want: pass},
		{name: "tolerance is met to the digit", value: "0.3", tolerance: 0.1, response: "0.4", want: pass},
		{name: "beyond the tolerance", value: "0.3", tolerance: 0.1, response: "0.41", want: expect{message: "0.41, not 0.3 ± 0.1"}},
		{name: "relative", value: "-200", relative: 0.01, response: "-202", want: pass},
		{name: "beyond relative", value: "200", relative: 0.01, response: "203", want: expect{message: "± 1 %"}},
		{name: "digits that no float holds", value: "9007199254740993", response: "9007199254740992"},
		{name: "an endless exponent", value: "1", response: "1e999999999", want: expect{message: "1e999999999"}},
		{name: "expected no number", value: "many", response: "1", want: expect{err: `value "many" is not a number`}},
		{name: "many numbers", value: "1", find: "any", response: strings.Repeat("2 ", 1<<16)},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, newCheck(t, assertion.Number, none, func(k *assertion.NumberConfig) {
				k.Value, k.Tolerance, k.Relative = template(t, c.value), c.tolerance, c.relative
				if c.find != "" {
					k.Find = c.find
				}
			}), withResponse(c.response), c.want)
		})
	}
	ofOutput := newCheck(t, assertion.Number, none, func(k *assertion.NumberConfig) { k.Value, k.Path = template(t, "3"), path(t, "$.n") })
	check(t, ofOutput, withOutput(`{"n":3,"m":4}`), pass)
	wantInvalid(t, assertion.Number, "requires value", func(*assertion.NumberConfig) {})
}

func TestRouge(t *testing.T) {
	for _, c := range []struct {
		name, n  string
		min      float64
		response string
		want     expect
	}{
		{"words", "1", 0.7, "police kill the gunman", expect{pass: true, score: 0.75, message: "ROUGE-1 is 0.75, the least is 0.7"}},
		{"pairs", "2", 0.7, "police kill the gunman", expect{score: 1. / 3}},
		{"sequence", "l", 0.5, "The gunman: kill police!", expect{pass: true, score: 0.5}},
		{"nothing", "1", 0.1, "", expect{}},
		{"very long", "l", 0.1, strings.Repeat("police ", 1<<17), expect{message: "of the first 20000 words"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, newCheck(t, assertion.Rouge, none, func(k *assertion.RougeConfig) {
				k.Value, k.N, k.Min = template(t, "Police killed the gunman."), c.n, c.min
			}), withResponse(c.response), c.want)
		})
	}
	wordless := newCheck(t, assertion.Rouge, none, func(k *assertion.RougeConfig) { k.Value = template(t, "...") })
	check(t, wordless, withResponse("x"), expect{err: "contains no words"})
	wantInvalid(t, assertion.Rouge, "requires value", func(*assertion.RougeConfig) {})
}

func TestLevenshtein(t *testing.T) {
	most, none0, least := 3, 0, 0.5
	for _, c := range []struct {
		name, value string
		max         *int
		min         *float64
		ignoreCase  bool
		response    string
		want        expect
	}{
		{name: "within", value: "kitten", max: &most, response: " sitting ", want: expect{pass: true, score: 4. / 7, message: "the distance is 3"}},
		{name: "beyond", value: "kitten", max: &none0, response: "sitten", want: expect{score: 5. / 6, message: "the greatest distance is 0"}},
		{name: "similar", value: "kitten", min: &least, response: "sitting", want: expect{pass: true, score: 4. / 7}},
		{name: "similar by default", value: "kitten", response: "sitting", want: expect{score: 4. / 7, message: "the least similarity is 0.8"}},
		{name: "both", value: "kitten", max: &most, min: &least, response: "kitten", want: pass},
		{name: "case", value: "KITTEN", max: &none0, ignoreCase: true, response: "kitten", want: pass},
		{name: "both empty", value: "${case.blank}", response: "", want: pass},
		{name: "lengths decide", value: "kitten", max: &most, response: strings.Repeat("x", 1<<20), want: expect{message: "at least 1048570"}},
		{name: "too long to tell", value: strings.Repeat("ab", 60_000), min: &least, response: strings.Repeat("ba", 59_999) + "c", want: expect{err: "too long to compare"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, newCheck(t, assertion.Levenshtein, none, func(k *assertion.LevenshteinConfig) {
				k.Value, k.Max, k.Min, k.IgnoreCase = template(t, c.value), c.max, c.min, c.ignoreCase
			}), withResponse(c.response), c.want)
		})
	}
	wantInvalid(t, assertion.Levenshtein, "requires value", func(*assertion.LevenshteinConfig) {})
}

// For every text, checks finish and return a short mark.
func TestHostileTextsHaveShortMarks(t *testing.T) {
	texts := map[string]string{
		"one letter":   strings.Repeat("a", 1<<16),
		"words":        strings.Repeat("a b c ", 1<<14),
		"digits":       strings.Repeat("1", 1<<16),
		"numbers":      strings.Repeat("1,234.5 ", 1<<13),
		"lines":        strings.Repeat("\n", 1<<16),
		"braces":       strings.Repeat("{", 1<<16),
		"no UTF-8":     strings.Repeat("\xff\xfe", 1<<15),
		"open strings": strings.Repeat(`["`, 1<<15),
	}
	want := strings.Repeat("b a ", 1000)
	checks := map[string]trial.Check{
		"equals":      newCheck(t, assertion.Equals, none, func(k *assertion.EqualsConfig) { k.Value = anyValue(t, `{"a":1}`) }),
		"contains":    newCheck(t, assertion.Contains, none, func(k *assertion.ContainsConfig) { k.Value = template(t, want) }),
		"regex":       newCheck(t, assertion.Regex, none, func(k *assertion.RegexConfig) { k.Pattern = template(t, `(\w+\s?)+z`) }),
		"number":      newCheck(t, assertion.Number, none, func(k *assertion.NumberConfig) { k.Value, k.Find = template(t, "7"), "any" }),
		"rouge":       newCheck(t, assertion.Rouge, none, func(k *assertion.RougeConfig) { k.Value, k.N = template(t, want), "l" }),
		"levenshtein": newCheck(t, assertion.Levenshtein, none, func(k *assertion.LevenshteinConfig) { k.Value = template(t, want) }),
		"json_path":   newCheck(t, assertion.JSONPath, none, func(k *assertion.JSONPathConfig) { k.Path = path(t, "$..a") }),
		"refusal":     newCheck(t, assertion.Refusal, none, func(*assertion.RefusalConfig) {}),
	}
	for name, c := range checks {
		for kind, text := range texts {
			m, err := c.Check(t.Context(), withResponse(text))
			if n := len(m.Actual) + len(m.Expected) + len(m.Message) + len(m.Diff); err == nil && n > 8500 {
				t.Errorf("%s of %s: a mark of %d bytes", name, kind, n)
			}
		}
	}
}

// For every text and number, the check passes, fails, or reports that the expected number
// is invalid.
func FuzzNumber(f *testing.F) {
	f.Add("6 * 7 = 42.", "42")
	f.Add("1,234.5e3 −2 v2 10.0.0.1", "1e400")
	f.Fuzz(func(t *testing.T, text, number string) {
		k := newCheck(t, assertion.Number, none, func(k *assertion.NumberConfig) { k.Value, k.Find = component.Template{Text: number + " "}, "any" })
		m, err := k.Check(t.Context(), withResponse(text))
		if err == nil && m.Pass != (m.Score == 1) {
			t.Errorf("%+v", m)
		}
		if m, err := k.Check(t.Context(), withResponse(number)); err == nil && strings.Trim(number, "0123456789") == "" && !m.Pass {
			t.Errorf("%q is not itself: %+v", number, m)
		}
	})
}
