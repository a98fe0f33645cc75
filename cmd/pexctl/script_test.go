//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs pexctl like a user: testdata/script/*.txtar, each in its own
// folder, which is not a project and contains the hello spec.
func TestScripts(t *testing.T) {
	specs, err := filepath.Abs("../../specs")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:              scripts(t),
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SPECS", specs)
			e.Setenv("PEX_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv(noOllama())
			e.Vars = append(e.Vars, noSleep)
			e.Values[serverKey{}] = &scriptServer{}
			return os.CopyFS(filepath.Join(e.WorkDir, "hello"), os.DirFS(filepath.Join(specs, "hello")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   runAndExpect,
			"json":    wantJSON,
			"serve":   startServer,
			"ui":      startUI,
			"picture": drawPicture,
		},
		Condition: func(cond string) (bool, error) {
			return cond == "root" && os.Getuid() == 0, nil
		},
	})
}

// sharing matches the scripts in which goroutines share data: a server, steps or trials in
// parallel, or a command beside another.
var sharing = regexp.MustCompile(`(?m)^serve |&\w*&?$|pexctl eval|--watch|--detach|parallel`)

// scripts returns the files of TestScripts; under -short, those for the race detector.
func scripts(t *testing.T) []string {
	all, err := filepath.Glob("../../testdata/script/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d scripts, %v", len(all), err)
	}
	if !testing.Short() {
		return all
	}
	return slices.DeleteFunc(all, func(file string) bool {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return !sharing.Match(b)
	})
}

// runAndExpect is `exits CODE arguments...`: it runs pexctl and checks the exit
// code.
func runAndExpect(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: exits CODE arguments...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("pexctl", args[1:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("pexctl: %v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// drawPicture is `picture FILE WIDTH HEIGHT`: it writes a PNG.
func drawPicture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: picture FILE WIDTH HEIGHT")
	}
	width, err := strconv.Atoi(args[1])
	ts.Check(err)
	height, err := strconv.Atoi(args[2])
	ts.Check(err)
	var b bytes.Buffer
	ts.Check(png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

// wantJSON is `json FILE [path value]...`: the file (stdout or a name) is exactly
// one JSON value, with the given values, as JSON or text, at the dotted paths.
func wantJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%2 != 1 {
		ts.Fatalf("usage: json FILE [path value]...")
	}
	d := json.NewDecoder(bytes.NewReader([]byte(ts.ReadFile(args[0]))))
	var v any
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("%s is no JSON: %v", args[0], err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s has more than one value", args[0])
	}
	for i := 1; i < len(args); i += 2 {
		got, err := json.Marshal(at(v, args[i]))
		ts.Check(err)
		if want := args[i+1]; string(got) != want && string(got) != strconv.Quote(want) {
			ts.Fatalf("%s: %s is %s, want %s", args[0], args[i], got, want)
		}
	}
}
