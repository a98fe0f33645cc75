// Package acceptance runs the cases of testdata/contract against a pexctl binary.
//
//	case.json --Load--> Case {steps} --Run(command)--> failures
//
// A case is a folder. Its steps run in order in one fresh copy of it, with a separate
// home and without the caller's PEX_ variables. testdata/contract/run.py does the same
// for any binary.
//
// It must not know how pexctl is built.
package acceptance
