package tool_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/tool"
)

type args = map[string]any

func TestReadFile(t *testing.T) {
	lines := ""
	for i := range 100 {
		lines += fmt.Sprintf("line %d\n", i+1)
	}
	dir := plant(t, "a.txt", "one\ntwo\nthree", "long.txt", lines, "wide.txt", strings.Repeat("x", 500)+"\nend\n",
		"bom.txt", "\xEF\xBB\xBFtext", "latin.txt", "caf\xe9", "empty.txt", "", "bin", "a\x00b")
	read := newTool(t, builtintool.ReadFile, tool.Settings{Dir: dir}, func(c *builtintool.ReadFileConfig) { c.MaxBytes = 120 })
	tests := []struct {
		name string
		args args
		want string
	}{
		{"whole", args{"path": "a.txt"}, "one\ntwo\nthree"},
		{"absolute", args{"path": filepath.Join(dir, "a.txt")}, "one\ntwo\nthree"},
		{"some lines", args{"path": "a.txt", "offset": 2, "limit": 1}, "two\n[lines 2 to 2 of a file of 13 bytes; read on with \"offset\": 3]"},
		{"the last lines", args{"path": "a.txt", "offset": 2, "limit": 5}, "two\nthree"},
		{"endless limit", args{"path": "a.txt", "offset": 3, "limit": 1<<63 - 1}, "three"},
		{"long", args{"path": "long.txt", "offset": 90, "limit": 100}, "line 90\nline 91\nline 92\nline 93\nline 94\nline 95\nline 96\nline 97\nline 98\nline 99\nline 100\n"},
		{"byte order mark", args{"path": "bom.txt"}, "text"},
		{"invalid UTF-8", args{"path": "latin.txt"}, "caf\uFFFD"},
		{"empty", args{"path": "empty.txt"}, "[the file is empty]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, text(t, read, tt.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := text(t, read, args{"path": "wide.txt"}); !strings.Contains(got, "line 1 is longer than 120 bytes") || !strings.Contains(got, `"offset": 2`) {
		t.Errorf("long line: %q", got)
	}
	fails(t, read, args{"path": "bin"}, "not a text file")
	fails(t, read, args{"path": "a.txt", "offset": 9}, "the file ends with line 3")
	fails(t, read, args{"path": "a.txt", "offset": -1}, "must be positive")
}

func TestReadingInPartsReturnsTheWholeFile(t *testing.T) {
	want := ""
	for i := range 500 {
		want += strings.Repeat("y", i%70) + "\n"
	}
	read := newTool(t, builtintool.ReadFile, tool.Settings{Dir: plant(t, "f", want)}, func(c *builtintool.ReadFileConfig) { c.MaxBytes = 300 })
	got, next := "", 1
	for next > 0 {
		part := text(t, read, args{"path": "f", "offset": next})
		at := strings.LastIndex(part, "[lines ")
		if at < 0 {
			got, next = got+part, 0
			continue
		}
		got += part[:at]
		if _, err := fmt.Sscanf(part[strings.LastIndexByte(part, ':')+1:], "%d]", &next); err != nil {
			t.Fatal(err)
		}
	}
	if got != want {
		t.Errorf("%d bytes of %d", len(got), len(want))
	}
}

func TestPathErrorsSuggestAFix(t *testing.T) {
	dir := plant(t, "data/a.csv", "", "data/b.csv", "", "data/.env", "", "x.txt", "")
	read := newTool[builtintool.ReadFileConfig](t, builtintool.ReadFile, tool.Settings{Dir: dir}, nil)
	fails(t, read, args{"path": "data"}, `"data" is a folder, not a file; folder data holds a.csv, b.csv`)
	fails(t, read, args{"path": "data/c.csv"}, `there is no "data/c.csv"; folder data holds a.csv, b.csv`)
	fails(t, read, args{"path": "nope/deep/c.csv"}, `the folder of this tool holds data/, x.txt`)
	fails(t, read, args{"path": "x.txt/y"}, `the folder of this tool holds data/, x.txt`)
	fails(t, read, args{}, `"path" is missing`)
	if _, err := call(t, read, args{"path": "data"}); strings.Contains(err.Error(), ".env") {
		t.Errorf("the error shows a hidden name: %v", err)
	}
}

func TestWriteFile(t *testing.T) {
	dir := plant(t, "a.txt", "old")
	write := newTool(t, builtintool.WriteFile, tool.Settings{Dir: dir}, func(c *builtintool.WriteFileConfig) { c.Root, c.MaxBytes = "out", 10 })
	tests := []struct{ path, content, want string }{
		{"a.txt", "new", "created a.txt: 3 bytes written"},
		{"a.txt", "x", "replaced a.txt: 1 byte written"},
		{"deep/er/b.txt", "", "created deep/er/b.txt: 0 bytes written"},
		{filepath.Join(dir, "out", "abs.txt"), "y", "created abs.txt: 1 byte written"},
		{"ünï cödé.txt", "z", "created ünï cödé.txt: 1 byte written"},
	}
	for _, tt := range tests {
		if got := text(t, write, args{"path": tt.path, "content": tt.content}); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "old" {
		t.Errorf("the file next to the root contains %q, %v", got, err)
	}
	fails(t, write, args{"path": "b", "content": "12345678901"}, "the limit is 10")
	fails(t, write, args{"path": "deep", "content": ""}, "is a folder")
	fails(t, write, args{"path": "b"}, `"content" is missing`)
	fails(t, write, args{"path": "", "content": ""}, `"path" is missing`)
	fails(t, write, args{"path": ".", "content": ""}, "pass the path of a file in it")
	fails(t, write, args{"path": "a.txt/b", "content": ""}, "a.txt/b")
}

func TestListFiles(t *testing.T) {
	dir := plant(t, "a.txt", "123", "sub/b.csv", "", "sub/c/d.csv", strings.Repeat("x", 12345), ".git/x", "")
	list := newTool(t, builtintool.ListFiles, tool.Settings{Dir: dir}, func(c *builtintool.ListFilesConfig) { c.MaxEntries = 2 })
	tests := []struct {
		name string
		args args
		want string
	}{
		{"folder", args{}, "a.txt (3 bytes)\nsub/"},
		{"below", args{"path": "sub", "pattern": "**/*.csv"}, "sub/b.csv (0 bytes)\nsub/c/d.csv (12.3 kB)"},
		{"cut", args{"pattern": "**"}, "a.txt (3 bytes)\nsub/\n[2 of 5 shown; narrow the pattern or the path to see the others]"},
		{"nothing", args{"pattern": "*.md"}, "nothing in . fits *.md; pattern **/*.md looks into its folders too"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, text(t, list, tt.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
	out, err := call(t, list, args{"path": "sub"})
	if err != nil || string(out.Data) != `[{"path":"sub/b.csv","size":0},{"path":"sub/c/"}]` {
		t.Errorf("data %s, %v", out.Data, err)
	}
	fails(t, list, args{"path": "none"}, `there is no "none"`)
	fails(t, list, args{"path": "a.txt"}, "not a folder")
	fails(t, list, args{"pattern": "["}, "open bracket")
}

func TestSearchFiles(t *testing.T) {
	dir := plant(t, "a.log", "start\nError one\nend\n", "b/c.log", "error two\nerror three\n", "b/x.bin", "error\x00", ".git/log", "error")
	search := newTool[builtintool.SearchFilesConfig](t, builtintool.SearchFiles, tool.Settings{Dir: dir}, nil)
	tests := []struct {
		name string
		args args
		want string
	}{
		{"text", args{"query": "error"}, "b/c.log:1: error two\nb/c.log:2: error three\n[2 matching lines in 3 files; 1 file not searched: no text]"},
		{"case", args{"query": "ERROR ", "ignore_case": true, "pattern": "*.log"}, "a.log:2: Error one\n[1 matching line in 1 file]"},
		{"expression", args{"query": "^[Ee]rror (one|three)$", "regex": true, "pattern": "**/*.log"}, "a.log:2: Error one\nb/c.log:2: error three\n[2 matching lines in 2 files]"},
		{"one file", args{"query": "Error", "path": "a.log", "context": 1}, "a.log-1- start\na.log:2: Error one\na.log-3- end\n[1 matching line in 1 file]"},
		{"cut", args{"query": "error", "ignore_case": true, "max_results": 2}, "a.log:2: Error one\nb/c.log:1: error two\n[2 of 3 matching lines shown; 1 file not searched: no text; narrow the query, path or pattern. Lines by file: b/c.log 2, a.log 1]"},
		{"nothing", args{"query": "zzz", "path": "b/c.log"}, `no line of 1 file contains "zzz"; "ignore_case": true finds other spellings`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, text(t, search, tt.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
	fails(t, search, args{}, "query is empty")
	fails(t, search, args{"query": "(", "regex": true}, "not a valid RE2 expression")
	fails(t, search, args{"query": "x", "path": "none"}, `there is no "none"`)
	fails(t, search, args{"query": "x", "max_results": -1}, "must be positive")
}

func TestSearchOutputIsLimited(t *testing.T) {
	dir := plant(t, "a.log", strings.Repeat(strings.Repeat("x", 390)+"\n", 1000), "b.log", "x\nx\n")
	search := newTool(t, builtintool.SearchFiles, tool.Settings{Dir: dir}, func(c *builtintool.SearchFilesConfig) { c.MaxResults = 1000 })
	got := text(t, search, args{"query": "x", "max_results": 1000})
	if len(got) > 48<<10 || !strings.Contains(got, "of 1002 matching lines shown") || !strings.HasSuffix(got, "a.log 1000, b.log 2]") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-200:])
	}
}

func TestExcludeHidesFiles(t *testing.T) {
	dir := plant(t, ".env", "KEY=1", "key.PEM", "secret", "a.txt", "x")
	open := func(exclude ...string) tool.Tool {
		return newTool(t, builtintool.ReadFile, tool.Settings{Dir: dir}, func(c *builtintool.ReadFileConfig) { c.Exclude = exclude })
	}
	if got := text(t, open(), args{"path": ".env"}); got != "KEY=1" {
		t.Errorf("%q", got)
	}
	fails(t, open("*.pem"), args{"path": "key.PEM"}, "its author excludes *.pem")
}

func TestJSONQuery(t *testing.T) {
	dir := plant(t,
		"sales.csv", "region,amount\nEU,0.1\nEU,0.2\nUS,100\nUS,\n",
		"log.jsonl", "{\"level\":\"error\",\"ms\":12}\n{\"level\":\"info\",\"ms\":3}\n",
		"deep.json", `{"items":[{"id":9007199254740993,"tags":["a","b"]},{"id":2}],"<b>":"x & y"}`)
	query := newTool[builtintool.JSONQueryConfig](t, builtintool.JSONQuery, tool.Settings{Dir: dir}, nil)
	tests := []struct {
		name string
		args args
		want string
	}{
		{"one value keeps its digits", args{"path": "deep.json", "query": "$.items[0].id"}, `9007199254740993`},
		{"many values", args{"path": "deep.json", "query": "$.items[*].id"}, `[9007199254740993,2]`},
		{"many that are one", args{"path": "deep.json", "query": "$..tags"}, `[["a","b"]]`},
		{"nothing", args{"path": "deep.json", "query": "$.none"}, `[]`},
		{"names with signs", args{"path": "deep.json", "query": "$['<b>']"}, `"x & y"`},
		{"rows", args{"path": "sales.csv", "query": "$[?@.region == 'US'].amount"}, `[100,null]`},
		{"rows by number", args{"path": "sales.csv", "query": "$[?@.amount > 0.15].amount"}, `[0.2,100]`},
		{"lines", args{"path": "log.jsonl", "query": "$[?@.level == 'error'].ms"}, `[12]`},
		{"large numbers compare", args{"path": "deep.json", "query": "$.items[?@.id > 2].id"}, `[9007199254740993]`},
		{"text", args{"json": "[1,2,3]", "query": "$[-1]"}, `3`},
		{"text that is a table", args{"json": "a,b\n1,2\n", "format": "csv"}, `[{"a":1,"b":2}]`},
		{
			"sum by group",
			args{"path": "sales.csv", "aggregate": args{"op": "sum", "field": "amount", "group_by": []string{"region"}}},
			"[{\"count\":2,\"region\":\"EU\",\"sum\":0.3},{\"count\":1,\"region\":\"US\",\"sum\":100}]\n[1 row without amount left out]",
		},
		{"sum of what is selected", args{"path": "sales.csv", "query": "$[?@.region == 'EU'].amount", "aggregate": args{"op": "sum"}}, `{"count":2,"sum":0.3}`},
		{"count", args{"path": "log.jsonl", "aggregate": args{"op": "count"}}, `{"count":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, text(t, query, tt.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
	fails(t, query, args{}, `pass the "path" of a file`)
	fails(t, query, args{"path": "x", "json": "1"}, "not both")
	fails(t, query, args{"json": "{", "query": "$"}, "invalid JSON")
	fails(t, query, args{"json": "{}", "query": "$["}, "query: ")
	fails(t, query, args{"path": "sales.csv", "aggregate": args{"op": "sum", "field": "region"}}, `"EU" is not a number`)
	small := newTool(t, builtintool.JSONQuery, tool.Settings{Dir: dir}, func(c *builtintool.JSONQueryConfig) { c.MaxBytes = 10 })
	fails(t, small, args{"path": "sales.csv"}, "larger than the limit of 10 bytes")
}

func TestLongListsAreTruncatedWithANote(t *testing.T) {
	query := newTool[builtintool.JSONQueryConfig](t, builtintool.JSONQuery, tool.Settings{Dir: t.TempDir()}, nil)
	list := make([]string, 2000)
	for i := range list {
		list[i] = strings.Repeat("x", 100)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	out, err := call(t, query, args{"json": string(raw)})
	if err != nil || out.Data != nil || len(out.Text) > 48<<10 || !strings.Contains(out.Text, "of 2000 values shown") {
		t.Errorf("%.100s..., %v", out.Text, err)
	}
}
