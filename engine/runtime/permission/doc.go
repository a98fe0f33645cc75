// Package permission decides who may answer the questions of a run: it applies the rules of
// questions and writes to the actors who answer, and knows who started and changed the run.
package permission
