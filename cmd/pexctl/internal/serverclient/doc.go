// Package serverclient connects a command with the server of --server.
//
//	--server URL, PEX_SERVER_TOKEN --Open--> Client --> requests; Fail --> errors with hints
//
// It knows no command and prints nothing.
package serverclient
