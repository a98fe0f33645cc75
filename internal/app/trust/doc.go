// Package trust determines what a spec executes and connects to outside of its project,
// and stores in the home what a human accepted. It does not ask.
package trust
