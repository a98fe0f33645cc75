// Package goldentest compares what a test got with what a file holds.
//
//	goldentest.File(t, "mermaid.txt", got)              testdata/mermaid.txt
//	a := goldentest.Txtar(t, "testdata/compile/x.txtar")
//	a.Want(t, "graph", compile(a.Input(t, "spec.yaml")))
//
// With PEX_GOLDEN=update in the environment (make golden) the files are
// rewritten instead, except where CI is set. Read the diff as code.
//
// It must not know what it compares.
package goldentest
