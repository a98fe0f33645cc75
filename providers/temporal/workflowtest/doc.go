// Package workflowtest executes runs as workflows in this process, in virtual time, without a
// server.
//
//	Execute(program, host, input) --> the SDK's test environment --> result and journal
package workflowtest
