// Package promptfoo converts a promptfoo configuration to a spec and suites.
//
//	prompts, providers, tests --> spec.yaml, suite.yaml, suite-2.yaml, ...
//
// The spec makes one model call with the first prompt and the first provider. The
// suites run its cases under a variant for each other prompt and provider. Tests
// with the same kinds of assertions share a suite, because the checks of a suite
// grade each of its cases.
package promptfoo
