package testcmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/lockfile"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/testcase"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
)

// WriteGoldens runs the tests of a project, which write its golden files.
func WriteGoldens(ctx context.Context, components *catalog.Catalog, dir string) error {
	options := components.Options()
	options.Root, options.Prices, options.Pins = dir, pricing.Known(), lockfile.Read
	options.Programs = dsl.NewPrograms(options)
	bench := newTestBench(components, &testOptions{update: true})
	units := newTestUnits(bench, options.Programs, false)
	defer units.close()
	tree, err := golden.Open(dir, false) // also in CI: nothing is compared with these files
	if err != nil {
		return failure.Infra(err)
	}
	units.trees[dir] = &goldenTree{tree, dir}
	paths, err := specfs.FindTests(filepath.Join(dir, "spec.yaml"), options.Root)
	if err != nil {
		return failure.Infra(err)
	}
	for _, path := range paths {
		tests, found := dsl.LoadTests(path, options)
		if found.Failed() {
			return failure.Infra(fmt.Errorf("the project was not created, because it would be invalid:\n%s", found.String()))
		}
		for i := range tests.Cases {
			if err := passes(ctx, units, &tests.Cases[i]); err != nil || ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

func passes(ctx context.Context, units *testUnits, k *testspec.Case) error {
	u, found, err := units.unitFor(k)
	if err != nil {
		return err
	}
	if u == nil {
		return failure.Infra(fmt.Errorf("the project was not created, because it would be invalid:\n%s", found.String()))
	}
	for _, p := range testcase.Run(ctx, units.bench, u.Unit, k).Problems {
		return failure.Infra(fmt.Errorf("the project was not created, because its test %q would fail: %s", k.Name, p.Message))
	}
	return nil
}
