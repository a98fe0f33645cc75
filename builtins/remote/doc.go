// Package remote fetches a spec from an address.
//
//	address --Fetch--> bytes   (https only, one host, at most 1 MiB)
//
// What is fetched is somebody else's: commands keep it as a file of its own and
// ask for trust before it starts or reaches anything.
//
// It must not know what a spec is.
package remote
