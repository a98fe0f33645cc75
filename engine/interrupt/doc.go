// Package interrupt defines human-in-the-loop pauses: the Question of a run, its Kind,
// the Decision that answers it, and the Responder that supplies decisions.
package interrupt
