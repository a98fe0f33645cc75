package golden_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/eval/golden"
)

const (
	idA = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	idB = "7f9619ff-8b86-d011-b42d-00c04fc964ff"
)

func mask(t testing.TB, rules []testspec.Redact, places ...golden.FolderAlias) *golden.Mask {
	t.Helper()
	m, err := golden.NewMask(rules, places...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// hidden masks one artefact.
func hidden(m *golden.Mask, name, text string) string {
	return m.Apply([]golden.Artifact{{Name: name, Text: text}})[0].Text
}

func TestVolatileValuesAreMasked(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"uuids", idA + " " + idB + " " + idA, "<uuid:1> <uuid:2> <uuid:1>"},
		{"uuid in a longer word", "x" + idA + " " + idA + "0", "x" + idA + " " + idA + "0"},
		{"run", "run r-20260102-150405-1a2b3c4d and e-20260102-150405-1a2b3c.", "run <run:1> and <run:2>."},
		{"times stay, because tests use a fixed clock", "at 2026-01-02T15:04:05Z", "at 2026-01-02T15:04:05Z"},
		{"ports", "http://127.0.0.1:4711/x localhost:80 [::1]:99 10.0.0.1:4711 127.0.0.1", "http://127.0.0.1:<port:1>/x localhost:<port:2> [::1]:<port:3> 10.0.0.1:4711 127.0.0.1"},
		{"durations", `{"duration_ms": 12.5, "latency_ms":3, "duration": 4}`, `{"duration_ms": "<duration>", "latency_ms":"<duration>", "duration": 4}`},
		{"memories", `{"memory_id": "ab12", "executor_agent_memory_id": "cd34", "x": "ab12"}`, `{"memory_id": "<memory:1>", "executor_agent_memory_id": "<memory:2>", "x": "ab12"}`},
		{"interactions", `{"parent_interaction_id":"ef"}`, `{"parent_interaction_id":"<interaction:1>"}`},
		{"behind an escape", `"a\n` + idB + `\u003c` + idA + `\t` + idA + `"`, `"a\n<uuid:1>\u003c<uuid:2>\t<uuid:2>"`},
		{"nothing", "plain", "plain"},
		{"what was hidden before", "<uuid:1> " + idA + " <uuid:2>", "<uuid:1> <uuid:3> <uuid:2>"},
		{"ends early", "r-2026", "r-2026"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &golden.Mask{}
			if d := cmp.Diff(c.want, hidden(m, "trajectory.json", c.text)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.want, hidden(m, "output.md", c.text)); d != "" {
				t.Error(d)
			}
			for _, name := range []string{"planner.prompt.md", "planner.params.json", "tools.json"} {
				if got := hidden(m, name, c.text); got != c.text {
					t.Errorf("%s shows %q", name, got)
				}
			}
		})
	}
}

func TestRulesOfCase(t *testing.T) {
	for _, c := range []struct {
		name       string
		rules      []testspec.Redact
		text, want string
	}{
		{"pattern", []testspec.Redact{{Name: "id", Pattern: `u-\d+`}}, "u-1 u-22 u-1", "<id:1> <id:2> <id:1>"},
		{"group", []testspec.Redact{{Name: "id", Pattern: `user=(\w+)`}}, "user=ana user=bo", "user=<id:1> user=<id:2>"},
		{"group that matched nothing", []testspec.Redact{{Name: "id", Pattern: `a(b)?c`}}, "ac abc", "ac a<id:1>c"},
		{"empty matches", []testspec.Redact{{Name: "id", Pattern: `x*`}}, "axa", "a<id:1>a"},
		{"the first rule wins", []testspec.Redact{{Name: "one", Pattern: `b+`}, {Name: "two", Pattern: `[a-c]+`}}, "abbc ac", "<two:2><one:1><two:3> <two:1>"},
		{"what one rule uncovers another finds", []testspec.Redact{{Name: "u", Pattern: `u-(\d+)`}, {Name: "mail", Pattern: `\w+@\w+`}}, "u-1b@c", "u-<u:1><mail:1>"},
		{"over what is volatile anywhere", []testspec.Redact{{Name: "order", Pattern: `[0-9a-f-]{36}`}}, idA, "<order:1>"},
		{"two rules of one name count together", []testspec.Redact{{Name: "id", Pattern: `a\d`}, {Name: "id", Pattern: `b\d`}}, "b1 a1 b1", "<id:1> <id:2> <id:1>"},
		{"what was hidden before", []testspec.Redact{{Name: "n", Pattern: `\d+`}}, "<n:1> 7 <uuid:3> <x:9>", "<n:1> <n:2> <uuid:3> <x:<n:3>>"},
		{
			"pointer",
			[]testspec.Redact{{Name: "when", Path: "/steps/*/started"}},
			`{"steps": [{"started": "mon", "n": 1}, {"started" : "tue"}, {"started": "mon"}], "started": "wed"}`,
			`{"steps": [{"started": "<when:1>", "n": 1}, {"started" : "<when:2>"}, {"started": "<when:1>"}], "started": "wed"}`,
		},
		{
			"pointer to a number, a list, a key with slashes",
			[]testspec.Redact{{Name: "x", Path: "/a/1"}, {Name: "y", Path: "/b"}, {Name: "z", Path: "/c~1d~0"}},
			"{\"a\":[1, 22],\n \"b\": [1, {\"k\": 2}], \"c/d~\": null}",
			"{\"a\":[1, \"<x:1>\"],\n \"b\": \"<y:1>\", \"c/d~\": \"<z:1>\"}",
		},
		{"any at the top", []testspec.Redact{{Name: "x", Path: "/*"}}, `{"a": {"b": 1}, "c": 2}`, `{"a": "<x:1>", "c": "<x:2>"}`},
		{"pointer and pattern of one name", []testspec.Redact{{Name: "id", Path: "/id"}, {Name: "id", Pattern: `u-\d+`}}, `{"id": "u-1", "x": "see u-2 and u-1"}`, `{"id": "<id:1>", "x": "see <id:2> and <id:1>"}`},
		{"pointer into what is no JSON", []testspec.Redact{{Name: "x", Path: "/a"}}, `{"a": 1`, `{"a": 1`},
		{"pointer that leads nowhere", []testspec.Redact{{Name: "x", Path: "/a/b/c"}}, `{"a": {"b": 1}}`, `{"a": {"b": 1}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mask(t, c.rules)
			got := hidden(m, "trajectory.json", c.text)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEqualValuesShareNumber(t *testing.T) {
	m := mask(t, []testspec.Redact{{Name: "user", Pattern: `u-\d+`}})
	got := m.Apply([]golden.Artifact{
		{Name: "output.md", Text: "u-3 u-1 " + idA},
		{Name: "trajectory.json", Text: "u-2 " + idB},
		{Name: "reflector.prompt.md", Text: "u-1"},
		{Name: "planner.prompt.md", Text: "u-2 <user:2>"},
	})
	want := []golden.Artifact{
		{Name: "planner.prompt.md", Text: "<user:1> <user:2>"},
		{Name: "reflector.prompt.md", Text: "<user:3>"},
		{Name: "trajectory.json", Text: "<user:1> <uuid:1>"},
		{Name: "output.md", Text: "<user:4> <user:3> <uuid:2>"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFoldersAreMaskedInEveryArtefact(t *testing.T) {
	m := mask(t, nil, golden.FolderAlias{Dir: "/work/shop", Name: "root"}, golden.FolderAlias{Dir: "/work/shop/.tmp/", Name: "temp"}, golden.FolderAlias{Dir: "/tmp/copy", Name: "root"}, golden.FolderAlias{Dir: "/", Name: "top"}, golden.FolderAlias{Dir: "rel", Name: "rel"})
	for _, c := range []struct{ text, want string }{
		{"read /work/shop/a.md and /tmp/copy/a.md", "read <root>/a.md and <root>/a.md"},
		{"in /work/shop.", "in <root>."},
		{"in /work/shop", "in <root>"},
		{`"\n/work/shop/.tmp/x"`, `"\n<temp>/x"`},
		{"file:///work/shop/x", "file://<root>/x"},
		{"/work/shop2 /work/shop-old /work/shop.bak /work/shopé a/work/shop /work/shops", "/work/shop2 /work/shop-old /work/shop.bak /work/shopé a/work/shop /work/shops"},
		{"<root>/x is /work/shop/x", "<root>/x is <root>/x"},
	} {
		for _, name := range []string{"planner.prompt.md", "tools.json", "trajectory.json"} {
			if got := hidden(m, name, c.text); got != c.want {
				t.Errorf("%s: %q becomes %q, not %q", name, c.text, got, c.want)
			}
		}
	}
}

func TestInvalidRulesAreNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		rule testspec.Redact
		want string
	}{
		{"no name", testspec.Redact{Pattern: "x"}, `invalid name ""`},
		{"name with a bracket", testspec.Redact{Name: "a>b", Pattern: "x"}, `invalid name "a>b"`},
		{"pattern", testspec.Redact{Name: "id", Pattern: "("}, "redact id: "},
		{"pointer", testspec.Redact{Name: "id", Path: "steps/*"}, `redact id: "steps/*" is not a JSON pointer`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := golden.NewMask([]testspec.Redact{c.rule}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzMaskIsIdempotent(f *testing.F) {
	for _, s := range []string{
		idA + " <uuid:1>", `{"a":{"b":"x"},"duration_ms":1,"memory_id":"m"}`, "/work/shop/x 127.0.0.1:1 r-20260102-150405-1a2b3c4d", "2026-01-02T15:04:05Z\\n2026-01-02T15:04:05Z", "u-1<u:1>u-2<root>", "<uuid:2>\xff" + idA, "{\"a\":",
	} {
		f.Add(s)
	}
	m := mask(f, []testspec.Redact{{Name: "u", Pattern: `u-(\d+)`}, {Name: "deep", Path: "/a/*"}, {Name: "mail", Pattern: `\w+@\w+`}}, golden.FolderAlias{Dir: "/work/shop", Name: "root"})
	f.Fuzz(func(t *testing.T, text string) {
		all := []golden.Artifact{{Name: "planner.prompt.md", Text: text}, {Name: "trajectory.json", Text: text}, {Name: "output.md", Text: text}}
		once := m.Apply(all)
		twice := m.Apply(once)
		if d := cmp.Diff(once, twice); d != "" {
			t.Fatal(d)
		}
		if all[0].Text != text {
			t.Fatal("Apply changed its argument")
		}
	})
}
