package project

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/analysis"
	"github.com/pexctl/pex/internal/app/failure"
)

// The drivers of runs: this process, or the workers of a Temporal namespace.
const (
	LocalDriver    = "local"
	TemporalDriver = "temporal"
)

// drivers are the values of --driver.
var drivers = []string{LocalDriver, TemporalDriver}

// DriverFlag returns --driver of commands that check specs.
func DriverFlag() cli.Flag {
	return &cli.StringFlag{Name: "driver", Category: ui.GroupSpec, Value: LocalDriver, Usage: "`DRIVER`: Where runs are executed: " + strings.Join(drivers, " or ") + ". With temporal, a tool that needs the disk of one machine is an error (PEX100, PEX101)"}
}

// CheckDriver returns an error if a value of --driver is unknown.
func CheckDriver(driver string) error {
	if !slices.Contains(drivers, driver) {
		return failure.Usagef("--driver %s is unknown; write %s", driver, strings.Join(drivers, " or "))
	}
	return nil
}

// DriverAnalyzers returns the analyzers of a driver in addition to those of every spec.
func DriverAnalyzers(driver string) []dsl.Analyzer {
	if driver == TemporalDriver {
		return []dsl.Analyzer{analysis.Distributed}
	}
	return nil
}
