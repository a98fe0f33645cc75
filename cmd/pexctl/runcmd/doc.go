// Package runcmd implements the commands that execute and show runs: run, resume
// and runs.
//
//	arguments -> flags struct -> engine/runs -> a Result, printed
//
// A command reads its flags in one place. Operations on runs belong to
// engine/runs; output and suggested commands belong here.
package runcmd
