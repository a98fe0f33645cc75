package envfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/app/envfile"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		want []envfile.Variable
	}{
		{"", nil},
		{"\uFEFFA=1\r\nB=2\r\n", []envfile.Variable{{"A", "1"}, {"B", "2"}}},
		{"# comment\n\n  A = one two  # comment\n", []envfile.Variable{{"A", "one two"}}},
		{"A=a#b\nB=#nothing\nC=", []envfile.Variable{{"A", "a#b"}, {"B", ""}, {"C", ""}}},
		{"export A=1\nexport=2\nexport = 3\nexported=4", []envfile.Variable{{"A", "1"}, {"export", "2"}, {"export", "3"}, {"exported", "4"}}},
		{`A="a \"b\" \\ \$c \n\t#d" # e`, []envfile.Variable{{"A", "a \"b\" \\ $c \n\t#d"}}},
		{`A="\d \é"`, []envfile.Variable{{"A", `\d \é`}}},
		{`A='a "b" \n $c'`, []envfile.Variable{{"A", `a "b" \n $c`}}},
		{"A='1\n2'\nB=\"3\n4\"", []envfile.Variable{{"A", "1\n2"}, {"B", "3\n4"}}},
		{"A=$HOME/${USER}", []envfile.Variable{{"A", "$HOME/${USER}"}}},
		{"A=say \"hi\"", []envfile.Variable{{"A", `say "hi"`}}},
		{"A=1\nA=2", []envfile.Variable{{"A", "1"}, {"A", "2"}}},
		{"A=sk-ant/+==", []envfile.Variable{{"A", "sk-ant/+=="}}},
	}
	for _, tt := range tests {
		got, err := envfile.Parse([]byte(tt.text))
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q\n%s", tt.text, diff)
		}
	}
}

func TestReadNamesFileAndLine(t *testing.T) {
	const syntax = "want NAME=VALUE, where NAME has letters, digits and _"
	tests := map[string]string{
		"A=1\nsk-secret":                  ":2: " + syntax,
		"A: 1":                            ":1: " + syntax,
		"1A=1":                            ":1: " + syntax,
		"export A":                        ":1: " + syntax,
		"A='1\n2\nB=3":                    ":1: the closing ' is missing",
		"A='1\n2'\nB=\"":                  ":3: the closing \" is missing",
		"A='1' 2":                         ":1: text after the closing '",
		"A=1\n\xff":                       ":2: not UTF-8 text",
		"A=1\x00":                         ":1: not UTF-8 text",
		"A=\"\\\n\"\nB":                   ":3: " + syntax,
		"A=" + strings.Repeat("a", 1<<20): ": larger than 1 MiB",
	}
	for text, want := range tests {
		file := filepath.Join(t.TempDir(), ".env")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := envfile.Read(file); err == nil || err.Error() != file+want {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

func TestLoadPrefersTheEnvironmentAndLaterFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("ENVFILE_SET", "set")
	t.Setenv("ENVFILE_EMPTY", "")
	for _, name := range []string{"ENVFILE_A", "ENVFILE_B"} {
		t.Setenv(name, "") // restored after the test
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for file, text := range map[string]string{
		one: "ENVFILE_SET=1\nENVFILE_EMPTY=1\nENVFILE_A=1\nENVFILE_B=1\n", two: "ENVFILE_B=2\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := envfile.Load([]string{one, two}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"ENVFILE_SET": "set", "ENVFILE_EMPTY": "", "ENVFILE_A": "1", "ENVFILE_B": "2"} {
		if got := os.Getenv(name); got != want {
			t.Errorf("%s=%q, want %q", name, got, want)
		}
	}
	if err := envfile.Load([]string{filepath.Join(dir, "none")}); err == nil {
		t.Error("no error of a missing file")
	}
}

func TestUnread(t *testing.T) {
	none, some := t.TempDir(), t.TempDir()
	file := filepath.Join(some, ".env")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := envfile.Unread(none, some); got != file {
		t.Errorf("got %q", got)
	}
	if err := envfile.Load([]string{file}); err != nil || !slices.Contains(envfile.Loaded(), file) {
		t.Errorf("%v: %v", err, envfile.Loaded())
	}
	if got := envfile.Unread(none, some); got != "" {
		t.Errorf("got %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("export A=\"1\\n\" # c\nB='2'\n\nC=3")
	f.Add("A=\"")
	f.Fuzz(func(t *testing.T, text string) {
		vars, err := envfile.Parse([]byte(text))
		if err != nil {
			return
		}
		var again strings.Builder
		for _, v := range vars {
			again.WriteString("export " + v.Name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", `\r`).Replace(v.Value) + "\"\n")
		}
		got, err := envfile.Parse([]byte(again.String()))
		if diff := cmp.Diff(vars, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}
