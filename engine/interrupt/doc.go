// Package interrupt defines human-in-the-loop pauses: the Question of a run, its Kind,
// the Decision that answers it, and the People who are asked.
package interrupt
