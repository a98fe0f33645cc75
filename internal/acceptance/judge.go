//go:build unix

package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// judge compares an outcome with the expectations of the step, and saves its values.
func (s Step) judge(o outcome, cwd string, saved map[string]string) []string {
	bad := s.judgeEnd(o)
	bad = append(bad, s.judgeJSON(o, saved)...)
	bad = append(bad, judgeText("stdout", o.stdout, s.StdoutHas, s.StdoutLacks, saved)...)
	bad = append(bad, judgeText("stderr", o.stderr, s.StderrHas, s.StderrLacks, saved)...)
	return append(bad, s.judgeFiles(cwd)...)
}

func (s Step) judgeEnd(o outcome) []string {
	switch {
	case o.killed && s.KillAfter == nil:
		return []string{"did not end in time"}
	case !o.killed && s.KillAfter != nil:
		return []string{"ended before it was to be killed"}
	case !o.killed && o.exit != s.Exit:
		return []string{fmt.Sprintf("exit %d, want %d; stderr: %s", o.exit, s.Exit, tail(o.stderr))}
	}
	return nil
}

func (s Step) judgeJSON(o outcome, saved map[string]string) []string {
	if len(s.Expect)+len(s.Absent)+len(s.Save) == 0 {
		return nil
	}
	var bad []string
	var doc any
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		bad = append(bad, fmt.Sprintf("stdout is not one JSON value (%v): %q", err, tail(o.stdout)))
	}
	for _, path := range slices.Sorted(maps.Keys(s.Expect)) {
		want := s.Expect[path]
		if t, ok := want.(string); ok {
			want = fill(saved, t)
		}
		if got, found := look(doc, path); !holds(got, found, want) {
			shown := "nothing"
			if found {
				shown = text(got)
			}
			bad = append(bad, fmt.Sprintf("%s: got %s, want %s", path, shown, text(want)))
		}
	}
	for _, path := range s.Absent {
		if _, found := look(doc, path); found {
			bad = append(bad, path+": is there, should not be")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Save)) {
		got, found := look(doc, s.Save[name])
		if !found {
			bad = append(bad, fmt.Sprintf("%s: nothing to save as %s", s.Save[name], name))
			continue
		}
		saved[name] = text(got)
	}
	return bad
}

func judgeText(where, got string, has, lacks []string, saved map[string]string) []string {
	var bad []string
	for _, t := range has {
		if !strings.Contains(got, fill(saved, t)) {
			bad = append(bad, fmt.Sprintf("%s lacks %q: %q", where, t, tail(got)))
		}
	}
	for _, t := range lacks {
		if strings.Contains(got, fill(saved, t)) {
			bad = append(bad, fmt.Sprintf("%s has %q", where, t))
		}
	}
	return bad
}

func (s Step) judgeFiles(cwd string) []string {
	var bad []string
	for _, path := range slices.Sorted(maps.Keys(s.FilesHas)) {
		content, err := os.ReadFile(filepath.Join(cwd, path))
		for _, t := range s.FilesHas[path] {
			if err != nil || !strings.Contains(string(content), t) {
				bad = append(bad, fmt.Sprintf("file %s lacks %q (%v)", path, t, err))
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(s.FilesLines)) {
		content, err := os.ReadFile(filepath.Join(cwd, path))
		got := strings.Count(string(content), "\n")
		if err == nil && len(content) > 0 && content[len(content)-1] != '\n' {
			got++
		}
		if want := s.FilesLines[path]; got != want {
			bad = append(bad, fmt.Sprintf("file %s: %d lines, want %d", path, got, want))
		}
	}
	return bad
}

// tail returns the end of a long text.
func tail(s string) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-300):]
}
