package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// inMessage is a command in a string: its words and flags, up to punctuation.
var inMessage = regexp.MustCompile(`\bpexctl( [a-z%][^\s,.;:()` + "`" + `]*)( %\S+| --?[a-z][a-z-]*(=\S+)?| [a-z][^\s,.;:()` + "`" + `]*)*`)

// aboutPexctl are words that follow the program name in sentences that name no
// command.
var aboutPexctl = []string{"cannot", "contains", "in", "knows", "puts", "reads", "registers", "runs of", "suggests", "supports", "that", "with", "would", "writes"}

// TestMessagesNameWhatExists checks the commands and flags in the strings of
// the code.
func TestMessagesNameWhatExists(t *testing.T) {
	oneGoroutine(t)
	known := newVocabulary(t)
	checked := 0
	for _, dir := range []string{"builtins", "cmd", "dsl", "engine", "eval", "internal", "providers"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				lit, ok := node.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				for _, line := range inMessage.FindAllString(text, -1) {
					if slices.ContainsFunc(aboutPexctl, func(s string) bool { return strings.HasPrefix(line, "pexctl "+s+" ") || line == "pexctl "+s }) {
						continue
					}
					checked++
					if problem := known.commandProblem(line); problem != "" {
						t.Errorf("%s: %s: %s", fset.Position(lit.Pos()), line, problem)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 100 {
		t.Errorf("%d commands were found, which is too few", checked)
	}
}
