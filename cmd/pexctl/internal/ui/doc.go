// Package ui is the command line of every command: arguments and flags, help,
// exit codes, questions at the terminal, and output as text, tables and JSON.
//
//	os.Args --Arrange--> urfave/cli --Env.Action--> Call --> a command
//	a command --> Call.Stdout, Call.Stderr --Output--> safe text --> the terminal
//	its error --PrintError--> stderr and the exit code
//
// It knows no command and no component.
package ui
