// Package memory is the vocabulary of conversation memory: the Store that keeps the
// interactions of a conversation, and the session of notes and variables that its
// tools keep between runs. Implementations are in providers.
package memory
