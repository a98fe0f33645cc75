package dsl

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

func (l *loader) loadPrices(file string) (*pricing.Table, *syntax.Node) {
	src := l.openFile(file, file, specfs.TestRoot)
	if src == nil {
		return nil, nil
	}
	tree := l.mapping(src, "a price file")
	if tree == nil {
		return nil, nil
	}
	if syntax.TextOf(tree, "kind") != specfs.KindPrices {
		language.WrongKind(l.Report, tree, specfs.KindPrices)
		return nil, tree
	}
	return pricing.Parse(l.Unit, tree, &l.options.Catalog), tree
}

// LoadPrices reads a file of kind: Prices and reports its mistakes. The catalog
// of the options defines the providers. The Table is nil if there is an error.
func LoadPrices(file string, o Options) (*pricing.Table, diag.List) {
	l := newLoader(o)
	p, _ := l.loadPrices(file)
	if p != nil {
		p.MarkIncomplete()
	}
	return p, l.Report.List.Sort()
}
