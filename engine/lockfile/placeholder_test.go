package lockfile_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/lockfile"
	"github.com/pexctl/pex/engine/tool"
)

func TestPlaceholderListsPinnedToolsWithoutServer(t *testing.T) {
	server := &enginetest.Toolset{ListError: errors.New("started")}
	e := entryOf(t, listing())
	set := e.Placeholder(server, nil)
	l, err := set.List(t.Context(), &tool.Call{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&tool.Listing{Server: "files 1.0", Tools: e.Tools}, l); diff != "" {
		t.Error(diff)
	}
	one := set.Bind(l.Tools[0])
	if got := one.Info().Description; got != e.Tools[0].Description {
		t.Errorf("it says %q", got)
	}
	if _, err := one.Call(t.Context(), &tool.Call{Args: json.RawMessage(`{}`)}); err == nil || !strings.Contains(err.Error(), "read_file was not called") {
		t.Errorf("the error is %v", err)
	}
	if err := set.Close(); err != nil || server.CloseCalls.Load() != 0 || server.ListCalls.Load() != 0 {
		t.Errorf("the server was touched: %v", err)
	}
	why := errors.New("nothing is pinned")
	if _, err := (*lockfile.Entry)(nil).Placeholder(server, why).List(t.Context(), &tool.Call{}); !errors.Is(err, why) {
		t.Errorf("the error is %v", err)
	}
}
