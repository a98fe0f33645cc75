// Package interrupt is the vocabulary of human-in-the-loop pauses: a Question that a
// run asks, its Kind, the Decision that answers it, and the People who are asked.
package interrupt
