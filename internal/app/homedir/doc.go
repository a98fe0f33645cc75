// Package homedir is the layout of a home, the folder that keeps runs, memory and
// evaluations, and the search for homes near by. It reads no run.
package homedir
