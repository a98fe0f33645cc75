// Package memory defines conversation memory: the Store of a conversation's interactions,
// and the session state of notes and variables that tools store between runs. Providers
// implement it.
package memory
