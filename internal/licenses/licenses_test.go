package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The file lists every module linked on this platform with its version, and contains their texts. Modules of other
// platforms may not be downloaded here; only their versions are compared.
func TestThirdPartyLicensesAreCurrent(t *testing.T) {
	file := readFile(t, "../../THIRD_PARTY_LICENSES")
	modules, err := Linked(command, nil)
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := Embedded("../..")
	if err != nil || len(embedded) == 0 {
		t.Fatal(embedded, err)
	}
	list, sections, _ := strings.Cut(file, "\n"+rule)
	for _, m := range slices.Concat(modules, embedded) {
		if !strings.Contains(list, "\n"+m.line()+"\n") && !strings.HasSuffix(list, "\n"+m.line()) {
			t.Errorf("%s is not listed: run make licenses", m.line())
		}
		for name, text := range m.Texts {
			if !covered(sections, m.Path+": "+name, text) {
				t.Errorf("%s: its %s differs from the file: run make licenses", m.Path, name)
			}
		}
	}
	if len(modules) < 50 {
		t.Errorf("only %d modules are linked", len(modules))
	}
	required := readFile(t, "../../go.mod")
	_, entries, _ := strings.Cut(list, "do not edit.\n")
	for line := range strings.Lines(entries) {
		if slices.ContainsFunc(embedded, func(m Module) bool { return m.line() == strings.TrimSpace(line) }) {
			continue
		}
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(required, "\t"+line+"\n") && !strings.Contains(required, "\t"+line+" ") {
			t.Errorf("go.mod does not require %s: run make licenses", line)
		}
	}
}

// covered reports whether the section of an owner has exactly a text.
func covered(sections, owner, text string) bool {
	_, rest, found := strings.Cut("\n"+sections, "\n"+owner+"\n")
	if !found {
		return false
	}
	_, rest, _ = strings.Cut(rest, rule)
	rest, found = strings.CutPrefix(rest, "\n"+text)
	return found && (rest == "" || strings.HasPrefix(rest, "\n"+rule))
}

func TestWriteHoldsEachTextOnceWithAllItsModules(t *testing.T) {
	var b strings.Builder
	err := Write(&b, []Module{
		{"example.com/a", "v1.0.0", map[string]string{"LICENSE": "MIT\n"}},
		{"example.com/b", "v2.0.0", map[string]string{"COPYING": "MIT\n", "x/NOTICE": "by b\n"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "\nexample.com/a v1.0.0\nexample.com/b v2.0.0\n" +
		"\n" + rule + "example.com/a: LICENSE\nexample.com/b: COPYING\n" + rule + "\nMIT\n" +
		"\n" + rule + "example.com/b: x/NOTICE\n" + rule + "\nby b\n"
	if got := strings.TrimPrefix(b.String(), header); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLicenseFilesAreRecognized(t *testing.T) {
	for name, want := range map[string]bool{
		"LICENSE": true, "LICENSE.txt": true, "license.md": true, "LICENCE": true, "COPYING": true, "NOTICE.txt": true,
		"PATENTS": true, "LICENSE-3RD-PARTY.md": true, "LICENSE-2.0.txt": true, "licenses": false, "notices_test.go": false, "README.md": false,
	} {
		if got := licenseFile.MatchString(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
