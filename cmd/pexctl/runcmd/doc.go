// Package runcmd is the commands that execute runs and look at them: run, resume
// and runs.
//
//	arguments -> flags struct -> engine/runs -> a Result, printed
//
// A command reads its flags in one place. What it does to runs is engine/runs';
// what it prints, and which command to try next, is decided here.
package runcmd
