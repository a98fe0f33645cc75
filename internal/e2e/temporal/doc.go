// Command temporal is a Temporal server of one process, with its data in a file of SQLite, for
// end-to-end tests:
//
//	temporal -listen 127.0.0.1:7233 -db FILE -namespace NAME... --> "ready" on stdout
//
// It can be killed at any time and started again with the same file. Its settings are those of a
// production server, except that new search attributes and namespaces are seen at once, that fair
// task queues are on, and that SQLite does not sync, since only the process is killed and not the machine.
//
// It is a module of its own, so that the server is no dependency of pex. internal/e2e/setup.sh
// builds it.
package main
