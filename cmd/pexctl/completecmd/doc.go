// Package completecmd is `pexctl completion` and the words that shells complete.
//
//	words so far --Complete--> what may follow, one per line
//
// It knows no component by name and no other command.
package completecmd
