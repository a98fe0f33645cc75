package ui

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/engine/model"
)

// PricesFlag returns --prices, which replaces the prices of well-known models.
func PricesFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "prices", Category: GroupSpec, Usage: "Use the model prices in `FILE` (kind: Prices) instead of the built-in ones; a price in the spec takes precedence",
	}
}

// readPrices reads the file of --prices, and shows its diagnostics.
func (c *Call) readPrices() error {
	file := c.String("prices")
	if file == "" {
		return nil
	}
	p, found := dsl.LoadPrices(file, dsl.Options{Catalog: c.Catalog.Catalog})
	if err := ShowDiagnostics(c, found); err != nil {
		return err
	}
	c.prices = pricing.Recorded(nil, p)
	return nil
}

// Prices returns the prices for compiling the specs of a command. They record
// each price that a spec uses.
func (c *Call) Prices() *pricing.Table {
	if c.prices == nil {
		c.prices = pricing.Recorded(nil, pricing.Known())
	}
	return c.prices
}

// PinPrices makes the command use the prices of the run that it resumes, unless
// --prices is given.
func (c *Call) PinPrices(recorded map[string]model.Cost) {
	if len(recorded) > 0 && !c.IsSet("prices") {
		c.prices = pricing.Recorded(recorded, c.Prices())
	}
}
