// Package testspec compiles tests of specs: cases in a spec, files of kind: Tests, and
// case.yaml files.
//
//	tree --Compile--> Tests {Case: overrides, parameters, prompts to render, run, checks}
//	Env.Load: the spec under test, with the overrides of a case --> Subject
//	Compiler: decodes what refers to Subjects; package suitespec uses it, too
//
// Every parameter, node, tool and column that a case names is checked against the
// Subject. A case whose Subject does not compile is checked as far as possible.
//
// The package compiles no spec and runs nothing; checks are known by the catalog only.
package testspec
