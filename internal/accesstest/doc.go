// Package accesstest starts the agents of a test behind server/access, in this process, for
// tests of the protocols of the server.
//
//	specs in a folder -> New -> World.Access -> the handler of a protocol -> World.Do
//
// It must not know any protocol.
package accesstest
