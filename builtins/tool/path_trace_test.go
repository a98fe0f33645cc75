//go:build e2e && linux

package tool_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/tool"
)

const tracedRoot = "PEX_TEST_TRACED_ROOT"

// openFile matches a successful open, with the path that the kernel resolved.
var openFile = regexp.MustCompile(`= \d+<([^>]*)>$`)

// The kernel's record of what the file tools open, for every way out: no open is outside
// the root. The test runs itself under strace.
func TestE2EFileToolsOpenNothingOutside(t *testing.T) {
	if root := os.Getenv(tracedRoot); root != "" {
		tryWaysOut(t, root)
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	root, log := trap(t), filepath.Join(t.TempDir(), "trace")
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(strace, "-f", "-y", "-qq", "-s", "8192", "-e", "trace=open,openat,openat2,creat", "-o", log, os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), tracedRoot+"="+real)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(trace), "/pex-test-begin")
	between, _, ended := strings.Cut(rest, "/pex-test-end")
	if !begun || !ended {
		t.Fatal("the trace lacks its marks")
	}
	n := 0
	for line := range strings.Lines(between) {
		m := openFile.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		n++
		if path := strings.TrimSuffix(m[1], " (deleted)"); path != real && !strings.HasPrefix(path, real+"/") {
			t.Errorf("opened %s: %.300s", path, line)
		}
	}
	if t.Logf("%d opens", n); n < 100 {
		t.Errorf("only %d opens were traced", n)
	}
}

func tryWaysOut(t *testing.T, root string) {
	more := map[string]args{"write_file": {"content": "written"}, "list_files": {"pattern": "**"}, "search_files": {"query": "canary"}, "json_query": {"format": "csv"}}
	tools := folderTools(t)
	_, _ = os.Open("/pex-test-begin") // marks the start in the trace
	for _, tt := range tools {
		tool, err := tt.make(tool.Settings{Dir: root}, "")
		if err != nil || tt.name == "command" {
			continue
		}
		for _, path := range append(waysOut(root), "in", ".") {
			a := args{"path": path}
			maps.Copy(a, more[tt.name])
			// Other tests check the errors; this one checks what the kernel opened.
			_, _ = call(t, tool, a)
		}
	}
	_, _ = os.Open("/pex-test-end")
}
