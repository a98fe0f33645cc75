package archtest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/archtest"
)

const doors = "| folder | third-party import allowed |\n| --- | --- |\n| `dsl/`, `x/` | `gopkg.in/yaml.v3`, `a.b/c` |\n| `engine/` | none |\n"

func block(lines string) string { return "```imports\n" + lines + "\n```\n" }

func TestParseTableReadsArrowsAndDoors(t *testing.T) {
	page := "text -> no arrow\n" + doors + "\n| other | table |\n| `q/` | `w` |\n" +
		block("dsl -> engine\n\nbuiltins -> eval, dsl/{guard, schema}, internal/httpclient") + "```\nx -> y\n```\n" + block("engine -> standard library")
	got, err := archtest.ParseTable(page)
	if err != nil {
		t.Fatal(err)
	}
	want := archtest.Table{
		Arrows: []archtest.Arrow{
			{From: "dsl", To: []string{"engine"}},
			{From: "builtins", To: []string{"eval", "dsl/guard", "dsl/schema", "internal/httpclient"}},
			{From: "engine"},
		},
		Doors:   []archtest.Door{{Folder: "dsl", Library: "gopkg.in/yaml.v3"}, {Folder: "dsl", Library: "a.b/c"}},
		Folders: []string{"dsl", "x", "engine"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseTableRefusesWhatContradictsItself(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"no block", doors, "no ```imports block"},
		{"no table", block("a -> b"), "third-party import allowed"},
		{"no arrow", doors + block("dsl imports engine"), "line 6: \"dsl imports engine\" is no arrow"},
		{"ring of arrows", doors + block("a -> b\nb -> c\nc -> a"), "ring: a -> b -> c -> a"},
		{"two doors", doors + "| `eval/` | `a.b/c` |\n" + block("a -> b"), "library a.b/c has two doors, dsl and eval"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := archtest.ParseTable(c.page)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestArrowsCoverWhatIsBelow(t *testing.T) {
	table := archtest.Table{Arrows: []archtest.Arrow{{From: "builtins", To: []string{"dsl/guard", "engine"}}}}
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"builtins", "engine", true},
		{"builtins/tool", "engine/journal", true},
		{"builtins/tool", "dsl/guard/deep", true},
		{"builtins", "dsl", false},
		{"builtins", "dsl/guardian", false},
		{"builtinsx", "engine", false},
		{"engine", "builtins", false},
	} {
		if got := table.Allows(c.from, c.to); got != c.want {
			t.Errorf("%s -> %s: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
