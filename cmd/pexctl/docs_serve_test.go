package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/problem"
)

// apiNames returns the names that the OpenAPI document defines: parameters, properties
// and values. Templates of paths are in paths, with upper-case parameters.
func apiNames(t *testing.T) (names map[string]bool, paths []string) {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal(api.OpenAPI(""), &document); err != nil {
		t.Fatal(err)
	}
	names = map[string]bool{}
	collectNames(document, names)
	operations, _ := document["paths"].(map[string]any)
	for path, methods := range operations {
		all, _ := methods.(map[string]any)
		for method := range all {
			paths = append(paths, strings.ToUpper(method)+" "+regexp.MustCompile(`\{\w+\}`).ReplaceAllStringFunc(path, parameterOf))
		}
	}
	slices.Sort(paths)
	return names, paths
}

// parameterOf returns how the docs write a parameter of a path.
func parameterOf(template string) string {
	name := strings.ToUpper(strings.Trim(template, "{}"))
	if name == "CALL" {
		return "PATH"
	}
	return name
}

func collectNames(value any, names map[string]bool) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			collectNames(item, names)
		}
	case map[string]any:
		properties, _ := v["properties"].(map[string]any)
		for name := range properties {
			names[name] = true
		}
		if name, ok := v["name"].(string); ok {
			names[name] = true
		}
		values, _ := v["enum"].([]any)
		for _, item := range values {
			names[fmt.Sprint(item)] = true
		}
		for _, item := range v {
			collectNames(item, names)
		}
	}
}

func servePage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "docs", "serve.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestServePageHasEveryOperation(t *testing.T) {
	page := servePage(t)
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(GET|POST|DELETE) [^|]*").FindAllString(page, -1) {
		method, base := "", ""
		for _, span := range codeSpan.FindAllStringSubmatch(row, -1) {
			path := span[1]
			if m, p, ok := strings.Cut(path, " "); ok {
				method, path, base = m, p, p[:strings.LastIndexByte(p, '/')]
			} else if strings.Count(path, "/") == 1 {
				path = base + path
			}
			listed = append(listed, method+" "+path)
		}
	}
	_, paths := apiNames(t)
	for _, path := range paths {
		if !slices.Contains(listed, path) {
			t.Errorf("the table of docs/serve.md has no %s", path)
		}
	}
	for _, path := range listed {
		if strings.Contains(path, "/v1/") && !slices.Contains(paths, path) {
			t.Errorf("docs/serve.md lists %s, which the API does not have", path)
		}
	}
}

func TestServePageHasEveryErrorCode(t *testing.T) {
	page := servePage(t)
	rows := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d{3}) \|(.*)\|$`).FindAllStringSubmatch(page, -1) {
		rows[row[1]] += row[2]
	}
	for _, code := range problem.Codes() {
		if status := fmt.Sprint(problem.New(code, "").Status()); !strings.Contains(rows[status], "`"+string(code)+"`") {
			t.Errorf("docs/serve.md does not list %s with status %s", code, status)
		}
	}
}
