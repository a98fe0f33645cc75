// Package trust knows what a spec starts and reaches from outside of its project,
// and keeps in the home what a person accepted of that. It asks nobody itself.
package trust
