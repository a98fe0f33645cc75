// Package goldentest compares test results with golden files.
//
//	goldentest.File(t, "mermaid.txt", got)              testdata/mermaid.txt
//	a := goldentest.Txtar(t, "testdata/compile/x.txtar")
//	a.Want(t, "graph", compile(a.Input(t, "spec.yaml")))
//
// With PEX_GOLDEN=update (make golden) the files are rewritten instead, unless CI is set.
// Read the diff as code.
//
// The package must not know what it compares.
package goldentest
