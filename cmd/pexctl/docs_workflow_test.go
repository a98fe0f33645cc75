package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	usesAction = regexp.MustCompile(`(?m)^ *-? *uses: *(.*)$`)
	pinnedUse  = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	installs   = regexp.MustCompile(`go install "?github\.com/pexctl/pex/cmd/pexctl@([^"\s]*)`)
)

// Workflows for readers run the code that their author reviewed: actions are
// pinned by commit, pexctl by the version in the workflow.
func TestWorkflowsOfThePagesArePinned(t *testing.T) {
	for _, page := range []string{"docs/ci.md", "docs/security.md"} {
		t.Run(page, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(top, page))
			if err != nil {
				t.Fatal(err)
			}
			text := string(b)
			uses := usesAction.FindAllStringSubmatch(text, -1)
			for _, m := range uses {
				if !pinnedUse.MatchString(m[1]) {
					t.Errorf("uses: %s is not a commit with its version in a comment", m[1])
				}
			}
			got := installs.FindAllStringSubmatch(text, -1)
			for _, m := range got {
				if m[1] != "$PEXCTL_VERSION" {
					t.Errorf("pexctl is installed as %s", m[1])
				}
			}
			if len(uses) == 0 || len(got) == 0 || !strings.Contains(text, "PEXCTL_VERSION: COMMIT") || !strings.Contains(text, "permissions: {contents: read}") {
				t.Error("there is no workflow, or it has no version or permissions")
			}
		})
	}
}
