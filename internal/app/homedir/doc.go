// Package homedir defines the layout of a home, the folder of runs, memory and
// evaluations, and finds homes nearby. It reads no runs.
package homedir
