package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/eval/fold"
	"github.com/pexctl/pex/eval/trial"
)

// Regrade makes an evaluation in dir of rows that were graded before: see
// Rescore. m says what it is of; after an error nothing is left of it.
func Regrade(ctx context.Context, rows trial.Rows, checks []Graded, dir string, m fold.Manifest, graders int, mask func(*trial.Row)) (err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("grade anew: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	if err := Rescore(ctx, rows, checks, filepath.Join(dir, rowsFile), graders, mask); err != nil {
		return err
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return (&store{dir: dir}).write(manifestFile, append(b, '\n'))
}
