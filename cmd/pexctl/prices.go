package main

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
)

// pricesHere is where the app's metadata has the *dsl.Prices of its command.
const pricesHere = "prices"

// pricesFlag replaces the prices of well-known models.
func pricesFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "prices", Usage: "what models cost whose spec does not say it: a `FILE` of kind: Prices, instead of the prices that pexctl knows",
		Action: func(c *cli.Context, _ string) error { return readPrices(c) },
	}
}

// readPrices reads the file that the flag names, and shows what is wrong with it.
func readPrices(c *cli.Context) error {
	p, found := dsl.LoadPrices(c.String("prices"), dsl.Options{Catalog: catalog()})
	if err := show(c, found); err != nil {
		return err
	}
	goByPrices(c, nil, p)
	return nil
}

// prices are those that the specs of a command are compiled with: each price
// that a spec is given is noted in them.
func prices(c *cli.Context) *dsl.Prices {
	if p, ok := c.App.Metadata[pricesHere].(*dsl.Prices); ok {
		return p
	}
	return goByPrices(c, nil, dsl.KnownPrices())
}

func goByPrices(c *cli.Context, of map[string]engine.Cost, rest *dsl.Prices) *dsl.Prices {
	p := dsl.RecordedPrices(of, rest)
	if c.App.Metadata == nil {
		c.App.Metadata = map[string]any{}
	}
	c.App.Metadata[pricesHere] = p
	return p
}

// begunWith has the command account as what it goes on with did, unless it was
// told otherwise.
func begunWith(c *cli.Context, of map[string]engine.Cost) {
	if len(of) > 0 && !c.IsSet("prices") {
		goByPrices(c, of, prices(c))
	}
}
