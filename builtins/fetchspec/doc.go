// Package fetchspec downloads a spec from a URL.
//
//	URL --Fetch--> bytes   (https only, one host, at most 1 MiB)
//
// The content is untrusted: commands store it in a directory of its own and ask for trust before it starts a program or
// connects to a server.
//
// The package does not know what a spec is.
package fetchspec
