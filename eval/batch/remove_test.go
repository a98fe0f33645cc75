package batch_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/batch"
)

func TestRemoveRefusesEvaluationInProgress(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "e-1")
	var under error
	var pid int
	m := &oracle{reply: func(context.Context, string, int) (*model.Reply, error) {
		pid, _ = batch.Holder(dir)
		under = batch.Remove(dir)
		return nil, nil
	}}
	p := planOf(dir, 1, m, capitals)
	if stop := run(t, p); stop.Passed != 1 {
		t.Fatalf("%+v", stop)
	}
	if held, ok := errors.AsType[*journal.InUseError](under); !ok || held.PID != os.Getpid() || pid != os.Getpid() {
		t.Fatal(under, pid)
	}
	if _, yes := batch.Holder(dir); yes {
		t.Fatal("Holder reports a finished evaluation")
	}
	if err := batch.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
	if err := batch.Remove(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
