// Package contract runs the cases of testdata/contract against a pexctl.
//
//	case.json --Load--> Case {steps} --Run(command)--> what did not hold
//
// A case is a folder: its steps run one after another in one fresh copy of it,
// each with a home of its own case and without the caller's PEX_ variables.
// testdata/contract/run.py does the same for a binary anywhere.
//
// It must not know how pexctl is built.
package contract
