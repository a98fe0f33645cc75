// Package testspec compiles tests of specs: cases in a spec, files of kind:
// Tests, and case.yaml files.
//
//	tree --Compile--> Tests {Case: overrides, parameters, prompts to render, run, checks}
//	Env.Load: the spec under test, with the overrides of a case --> Subject
//	Compiler: decodes what refers to Subjects; package suitespec uses it too
//
// It checks every parameter, node, tool and column that a case names against the
// Subject. A case whose Subject does not compile is checked as far as possible.
//
// The package compiles no spec and runs nothing. It knows checks through the
// catalog only.
package testspec
